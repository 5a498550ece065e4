package transport

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"gomx/transport/wire"
)

// Address names an endpoint: the board it was opened on and its number there.
type Address struct {
	NIC      uint64
	Endpoint uint32
}

// String prints the address as 02:00:0a:00:00:01/3.
func (a Address) String() string {
	n := a.NIC
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x/%d",
		byte(n>>40), byte(n>>32), byte(n>>24), byte(n>>16), byte(n>>8), byte(n), a.Endpoint)
}

// Errors of transports. They come wrapped with the peer and the reason.
var (
	// ErrBusy: the endpoint id is taken.
	ErrBusy = errors.New("endpoint is busy")
	// ErrNoPeer: the host answers, but no such endpoint is open there.
	ErrNoPeer = errors.New("no such endpoint is open")
	// ErrNoRoute: this transport does not reach that address.
	ErrNoRoute = errors.New("address not reached by this transport")
	// ErrRefused: the peer, or whoever listens at its address, refused the handshake.
	ErrRefused = errors.New("peer refused")
	// ErrSlow: the peer is there, or may be, but has not answered in time. Another dial
	// may find it ready, and no other transport will find it earlier.
	ErrSlow = errors.New("no answer yet")
	// ErrNoDescriptors: this process, not the peer, is short of file descriptors.
	ErrNoDescriptors = errors.New("no file descriptor is left in this process: raise its limit (ulimit -n)")
	// ErrPeerDied: the other process ended without closing its endpoint.
	ErrPeerDied = errors.New("peer process ended")
	// ErrCorrupt: the peer's frames or its shared memory make no sense.
	ErrCorrupt = errors.New("corrupt data from peer")
	// ErrClosed: the port or link was closed on this side.
	ErrClosed = errors.New("closed")
	// ErrUnsupported: this machine or build lacks what the transport needs.
	ErrUnsupported = errors.New("not supported here")
)

// OptionError means that an option of the transport is not as it must be, and says what is missing.
type OptionError struct{ Missing string }

// Error says what is missing.
func (e *OptionError) Error() string { return e.Missing }

// WrongPeerError means that an endpoint of another board answered than the one that was dialled, with
// the same endpoint number. Its handshake has succeeded otherwise. Perhaps the board has
// several addresses, and its NIC id is made of another one. It is an ErrRefused.
type WrongPeerError struct{ Asked, Answered Address }

// Error names both.
func (e *WrongPeerError) Error() string {
	return fmt.Sprintf("%v: %v answered in place of %v", ErrRefused, e.Answered, e.Asked)
}

// Unwrap returns ErrRefused.
func (e *WrongPeerError) Unwrap() error { return ErrRefused }

// PortTakenError means that somebody else has the port of the network that the endpoint id stands for. It is an ErrBusy.
type PortTakenError struct{ Port netip.AddrPort }

// Error names the port.
func (e *PortTakenError) Error() string { return fmt.Sprintf("%v: port %v is taken", ErrBusy, e.Port) }

// Unwrap returns ErrBusy.
func (e *PortTakenError) Unwrap() error { return ErrBusy }

// Transport is a medium. Its methods may be called concurrently.
type Transport interface {
	// Name returns "shm", "mem", "tcp" and so on.
	Name() string

	// Available returns nil, or why this machine can't use the medium.
	Available() error

	// Open claims the address in o and begins to accept peers.
	Open(o Open) (Port, error)
}

// Open is what a port is opened with.
type Open struct {
	Self    Address
	Session uint32 // of this incarnation; told to peers in the handshake
	Events  Events
	Bell    Doorbell
}

// Port is an endpoint's presence on a medium. Poll is called by one goroutine
// at a time, with the endpoint's lock held; Dial, Diagnostics and Close by any.
type Port interface {
	// Dial makes a link to a peer, or returns why it can't. It may block until ctx ends, and
	// it returns after a bounded time, with ErrSlow if another dial may succeed.
	Dial(ctx context.Context, peer Address) (Link, error)

	// Poll delivers frames that have arrived, some dozens at most, without
	// blocking, and continues pulls. It returns how many frames and pulls it handled:
	// 0 if there was nothing to do, and otherwise there may be more.
	Poll(h Handler) int

	// Quiet reports whether nothing is there to be polled. A sleeper asks it
	// after arming the doorbell and before it sleeps.
	Quiet() bool

	// Diagnostics returns what people ask about a port: lines "name: value".
	Diagnostics() []Diagnostic

	// Close closes the links and gives the address back.
	Close() error
}

// Registrar is a Port of a medium that has to prepare memory before it can move
// bytes out of it and into it without a copy.
type Registrar interface {
	// Register prepares memory, which is not empty, until release; memory of the Go
	// heap is pinned meanwhile. It may be registered more than once, and parts of it
	// too. The error names the medium, and what would help if a limit is in the way;
	// nothing is prepared then. A closed port returns ErrClosed.
	//
	// Neither it nor release is called with the endpoint's lock held; any goroutine
	// may call them. release is called once at most, when no request of the endpoint
	// uses the memory. Close releases what is left, and release is not called later.
	Register(mem []byte) (release func() error, err error)
}

// Lingerer is a Port whose Close waits for its output to leave.
type Lingerer interface {
	// Linger says, before Close, what patience is left to it. Close has a second of its own, and the rest of the time of that close.
	Linger(p Patience)
}

// Foreign is a Port that polls in C. A goroutine that has not been through Go's scheduler for 10 ms loses its processor as
// soon as the run time's monitor finds it in C, where here it nearly always is; the monitor is then busy with that, thousands
// of times a second. So whoever polls for long goes through the scheduler before, without the endpoint's lock.
type Foreign interface {
	// PollsInC does nothing: that it is there says so.
	PollsInC()
}

// Diagnostic is one line about a port, such as {"single copy", "yes"}.
type Diagnostic struct{ Name, Value string }

// Link is a connection to one peer.
type Link interface {
	wire.Link

	// Peer returns the address and session of the other side, proven by the handshake.
	Peer() (addr Address, session uint32)

	// Bind tells the link under which number the engine knows its peer, and lets
	// its frames be polled from now on, and its end be told. The number may change: Bind is called again
	// then, perhaps from within Handler.Frame.
	Bind(peer int32)

	// Close gives the link's resources back. Frames already sent stay readable
	// by the peer. Called with the endpoint's lock held. From its return on, and
	// likewise from Events.Down on, the link writes nothing more into memory
	// that Pull was given: it may be the user's again. All exports over the link end without
	// Unexport, and pulls of them by the peer fail.
	Close()
}

// Handler takes frames. The payload is valid until Frame returns.
type Handler interface {
	// Frame takes a frame of the peer that the link is bound to. False means that
	// this poll is to deliver nothing more, of any link.
	Frame(peer int32, h *wire.Header, payload []byte) bool
	// PullFinished ends a pull that was answered with wire.PullStarted: once for
	// each. With ok all bytes are in place; without, what is there is undefined.
	PullFinished(id uint64, ok bool)

	// Land returns where the payload of a PullData frame belongs, so that a port
	// can read it straight into place: at h.Offset of the list. nil: collect it
	// and call Frame. The memory may become the user's again between two calls
	// of Poll, so a port that has read a part asks again before it reads on; if
	// there is no place any more, it throws the rest of the payload away.
	Land(peer int32, h *wire.Header) *wire.Vec
	// Landed says that all h.Length bytes are in the place that Land named.
	Landed(peer int32, h *wire.Header)
}

// Events receives what happens at ports besides frames. Ports call its methods from
// goroutines of their own; the methods return at once.
type Events interface {
	// Accepted: a peer has dialled us.
	Accepted(l Link)
	// Down: the link is dead. All frames that arrived before have been delivered.
	Down(l Link, reason error)
	// Refused: somebody has dialled us and was refused. why says who, as far as that is known, and the reason.
	Refused(why error)
	// Count adds to a named counter of oddities.
	Count(what Counter)
	// Soon asks for a Poll within a fraction of a millisecond even if no caller
	// polls: frames were buffered to leave together. Called from within Send.
	Soon()
}

// Counter names an oddity that ports count.
type Counter uint8

// The counters.
const (
	CorruptFrames Counter = iota // frames or rings that made no sense
	PullFallbacks                // a get failed, and the pipelined rendezvous took over
	CounterEnd
)

// Holder is a Port that holds frames back, so that they leave together. The endpoint's lock is held.
type Holder interface {
	// Overdue says that the next Poll is one that Soon has asked for: no caller has made one in time.
	Overdue()
}

// SoonIs is how long after a call of Doorbell.Soon the function is called.
const SoonIs = 50 * time.Microsecond

// Doorbell wakes a sleeping endpoint. One belongs to each endpoint and serves
// all its ports.
type Doorbell interface {
	// Arm says that we are about to sleep: whoever has something for us must
	// ring from now on. Pollable chooses the wake-up that FD reports.
	Arm(pollable bool)

	// Disarm says that we look ourselves again.
	Disarm()

	// Sleep blocks until the bell rings or d has passed (d < 0: for ever).
	// It may return early. Only one goroutine sleeps at a time.
	Sleep(d time.Duration)

	// Pend is Sleep for a bell armed as pollable that lets the thread go: the
	// goroutine waits in Go's network poller.
	Pend(d time.Duration)

	// Yield lets other processes have the core for a moment, if some want it. A caller
	// that polls calls it now and then.
	Yield()

	// Fence has all threads of this process pass a memory barrier before it returns.
	// False: this machine has nothing of the kind. Safe from any goroutine.
	Fence() bool

	// Ring wakes the sleeper, if there is one. Safe from any goroutine.
	Ring()

	// Soon has f called in another goroutine, SoonIs later or a little more. It is not
	// called again where the bell was asked for it before, nor if the bell is closed.
	// Each caller has the same f. Safe from any goroutine.
	Soon(f func())

	// FD returns a file descriptor that becomes readable when an armed,
	// pollable bell rings or a watched descriptor becomes readable, or -1 and
	// why there is none.
	FD() (int, error)

	// Watch has the sleeper woken when fd becomes readable, too. The descriptor
	// is one of epoll; it stays open until the bell is closed or, on an endpoint
	// that closes, its port. Safe from any goroutine.
	Watch(fd int) error

	// Drain makes FD unreadable until the next ring.
	Drain()

	// Close wakes the sleeper and gives the bell's resources back.
	Close()
}
