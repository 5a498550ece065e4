// Package gather plans how the memory of a peer, which is a list of segments, is read
// into memory here that is cut differently. A read request has one segment of the
// peer and several pieces here, so it takes several requests (Cutter). How a peer
// names its list is here, too (AppendDescriptor, ParseDescriptor).
//
// It only computes. Values may be used by one goroutine at a time.
package gather
