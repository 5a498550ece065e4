// Package traffic is a peer for tests: a child process with one endpoint, which
// does what its parent says, in lines: open, connect, send streams of messages,
// receive them and check that each came once, whole and in order, add to each
// other's numbers.
//
// The child's side is Role, for proc.Main; the parent's is Peer.
package traffic
