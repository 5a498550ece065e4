//go:build linux

package tcp

import "gomx/transport/wire"

// caps returns what links can do. The kernel passes on what one call gives it in segments,
// so sender and receiver copy at the same time however large a PullData frame is, while each
// frame costs a call, and a read that ends with it. Under TLS the payload goes through
// buffers, which are best small.
func caps(o *Options) wire.Caps {
	c := wire.Caps{
		Name: "tcp", MaxFrame: MaxFrame, Eager: o.Eager,
		Ordered: true, Reliable: true,
		Heals: true, PullFrame: MaxFrame,
	}
	if o.TLS == nil {
		c.Retains = true
		c.PullFrame, c.MaxPullFrame = MaxPullFrame, MaxPullFrame
	}
	return c
}
