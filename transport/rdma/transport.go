//go:build linux

package rdma

import (
	"cmp"

	"gomx/transport/wire"
)

// MaxFrame is the largest payload of one frame, bytes.
const MaxFrame = SlotSize - wire.MaxHeader

// Transport is RDMA over reliable connections. Its methods may be called
// concurrently.
type Transport struct{ opt Options }

// New returns the transport. It looks at no device; Available and Open do.
func New(o Options) *Transport {
	o.Credits = min(max(cmp.Or(o.Credits, DefaultCredits), LeastCredits), MostCredits)
	o.Slots = min(max(cmp.Or(o.Slots, DefaultSlots), LeastSlots), MostSlots)
	o.Eager = min(cmp.Or(o.Eager, MaxFrame), MaxFrame)
	return &Transport{opt: o}
}

// Name returns "rdma".
func (t *Transport) Name() string { return "rdma" }

// Available returns what the function of that name does.
func (t *Transport) Available() error { return Available() }
