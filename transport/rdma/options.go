//go:build linux

package rdma

import (
	"net/netip"

	"gomx/transport"
	"gomx/transport/tcp"
)

// Options of the transport.
type Options struct {
	// Handshake is the transport whose handshake introduces peers to each other: who they are, that
	// they know the secret, and where their queue pairs are. It must serve tcp.RDMA.
	Handshake *tcp.Transport

	// Board returns the RDMA devices behind the board that self was opened on, and
	// its addresses. It may be called concurrently.
	Board func(self transport.Address) (devices []string, addrs []netip.Addr)

	// Arena is the memory of mx.Alloc: its blocks are registered once, on first
	// use. nil: there is none.
	Arena Arena

	// Device is the only device to use, "mlx5_0", or the only port, "mlx5_0/1",
	// whether or not it is one of the board's. Empty: the board's.
	Device string

	// Eager is the largest message sent eagerly unless told otherwise, bytes. 0
	// leaves it to the transport.
	Eager int

	// Credits is how many credits a peer gets: how many frames it may send that were not
	// received yet, from LeastCredits to MostCredits. 0 means DefaultCredits.
	Credits int

	// Slots is how many frames an endpoint has room for to begin with, of all
	// peers together, from LeastSlots to MostSlots. Each is SlotSize bytes of
	// locked memory. 0 means DefaultSlots.
	Slots int
}

// Arena is memory whose whole blocks are worth registering. Its methods may be
// called concurrently.
type Arena interface {
	// Block returns the whole block that b lies in. Not ok: b lies in none, or not
	// in one alone, or the block is being freed.
	Block(b []byte) (block []byte, ok bool)

	// WhenFreed has f called before the memory of a block is given back or handed
	// out again, when Block does not find it any more; by one goroutine at a time.
	// After forget has returned f is not called any more. So forget must not be
	// called with a lock held that f takes; Block may be. f must call neither
	// WhenFreed nor forget, and must not free blocks.
	WhenFreed(f func(block []byte)) (forget func())
}
