//go:build linux

package shm

import (
	"gomx/transport/shm/internal/ring"
	"gomx/transport/wire"
)

func caps(o Options) *wire.Caps {
	return &wire.Caps{
		Name: "shm", MaxFrame: ring.MaxFrame, Eager: o.Eager,
		Ordered: true, Reliable: true, Pull: true,
	}
}
