// Package wire is the vocabulary that the engine and the media share: the frame
// header and its byte codec, gather lists, the capabilities of a medium and the
// few calls the engine makes on a link. docs/wire.md is the normative text.
//
// It does no input or output and knows nothing of sockets, memory maps or time.
// Values are plain data; nothing here may be used from two goroutines at once
// unless its documentation says so. Read header.go next, then link.go.
package wire
