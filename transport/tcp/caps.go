//go:build linux

package tcp

import "gomx/transport/wire"

// pullFrame is large enough for a system call to be cheap beside the copy that
// it makes, and small enough for sender and receiver to copy at once.
const pullFrame = MaxFrame

func caps(o *Options) wire.Caps {
	return wire.Caps{
		Name: "tcp", MaxFrame: MaxFrame, Eager: o.Eager,
		Ordered: true, Reliable: true,
		Heals: true, PullFrame: pullFrame, Retains: o.TLS == nil,
	}
}
