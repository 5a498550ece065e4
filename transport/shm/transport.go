//go:build linux

package shm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"

	"gomx/internal/labels"
	"gomx/transport"
	"gomx/transport/bell"
	"gomx/transport/internal/segment"
)

// Options of the transport. The zero value is what programs want.
type Options struct {
	// NoSingleCopy never reads peers' memory directly: large messages go through
	// the ring, or come out of an arena.
	NoSingleCopy bool
	// NoArena never maps peers' arenas.
	NoArena bool
	// Eager is the largest message sent eagerly unless told otherwise, bytes;
	// 0 means DefaultEager.
	Eager int
}

// DefaultEager is about where it begins to pay that a message is not copied into
// the ring in one piece before the receiver begins to copy it out.
const DefaultEager = 16 << 10

// Transport is the shared-memory transport. Its methods may be called
// concurrently.
type Transport struct{ opt Options }

// New returns the transport.
func New(opt Options) *Transport {
	if opt.Eager == 0 {
		opt.Eager = DefaultEager
	}
	return &Transport{opt: opt}
}

// NewBell makes the doorbell that an endpoint with a shm port needs, and also those
// that watch descriptors. It works within the process where shm is not available.
func NewBell() (transport.Doorbell, error) {
	b, err := bell.New()
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Name returns "shm".
func (t *Transport) Name() string { return "shm" }

// proven says that Available has found once that the system has everything.
var proven atomic.Bool

// Available makes and drops a doorbell and a listener, which take everything the transport
// needs of the system, unless that has worked before: each endpoint asks.
func (t *Transport) Available() error {
	if proven.Load() {
		return nil
	}
	b, err := bell.New()
	if err == nil {
		err = b.Lonely()
		b.Close()
	}
	if err == nil {
		err = mayListen()
	}
	if err == nil {
		err = segment.Allowed(pairSize)
	}
	switch short := transport.Shortage(err); {
	case err == nil:
		proven.Store(true)
		return nil
	case errors.Is(short, transport.ErrNoDescriptors): // the machine has it
		return fmt.Errorf("shm: %w", short)
	}
	return fmt.Errorf("shm: %w: %w", transport.ErrUnsupported, err)
}

// mayListen returns why the system refuses a socket over which peers meet. Its name is nobody's address.
func mayListen() error {
	var random [8]byte
	_, _ = rand.Read(random[:])
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Net: "unixpacket", Name: fmt.Sprintf("@gomx-try-%x", random)})
	if err != nil {
		return err
	}
	return l.Close()
}

// socketName is the abstract socket that belongs to an address.
func socketName(a transport.Address) *net.UnixAddr {
	return &net.UnixAddr{Net: "unixpacket", Name: fmt.Sprintf("@gomx-%012x-%d", a.NIC, a.Endpoint)}
}

// Open claims the address and begins to accept peers. The doorbell must be one
// of NewBell.
func (t *Transport) Open(o transport.Open) (transport.Port, error) {
	b, ok := o.Bell.(*bell.Bell)
	if !ok {
		return nil, fmt.Errorf("shm: open %v: the doorbell must come from shm.NewBell", o.Self)
	}
	listener, err := net.ListenUnix("unixpacket", socketName(o.Self))
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			err = transport.ErrBusy
		}
		return nil, fmt.Errorf("shm: open %v: %w", o.Self, err)
	}
	p := &port{opt: t.opt, self: o.Self, session: o.Session, events: o.Events, bell: b, listener: listener}
	p.caps = caps(t.opt)
	p.life, p.end = context.WithCancel(context.Background())
	p.accepting.Add(1)
	go labels.ForEndpoint("accept", p.self.Endpoint).Func(p.accept)()
	return p, nil
}
