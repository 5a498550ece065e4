package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"gomx/endpoint"
	"gomx/transport"
	"gomx/transport/wire"
)

// event is what happened to links beside frames.
type event struct {
	kind  eventKind
	link  transport.Link
	peer  int32 // dialled
	cause error
}

type eventKind uint8

const (
	linkAccepted eventKind = iota
	linkEnding
	linkDown
	linkDialled
	dialFailed
)

// inbox carries events from the ports' goroutines to the poller.
type inbox struct {
	ring func()
	some atomic.Bool

	mu     sync.Mutex
	list   []event
	closed bool
}

func (b *inbox) full() bool { return b.some.Load() }

func (b *inbox) put(e event) {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return // the port closes all its links itself
	}
	b.list = append(b.list, e)
	b.some.Store(true)
	b.mu.Unlock()
	b.ring()
}

func (b *inbox) take() []event {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.list
	b.list = nil
	b.some.Store(false)
	return list
}

func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.list = true, nil
}

// events is the Endpoint as its ports see it.
type events Endpoint

func (d *events) Accepted(l transport.Link) { d.inbox.put(event{kind: linkAccepted, link: l}) }

func (d *events) Ending(l transport.Link) { d.inbox.put(event{kind: linkEnding, link: l}) }

func (d *events) Down(l transport.Link, reason error) {
	d.inbox.put(event{kind: linkDown, link: l, cause: reason})
}

// Soon sets the guard, which looks at an endpoint that nobody polls, much
// earlier than usual. The lock is held, for only Send calls it.
func (d *events) Soon() { (*Endpoint)(d).back.soon() }

func (d *events) Count(what transport.Counter) { d.oddities[what].Add(1) }

// takeEvents tells the engine what happened. The lock is held.
func (d *Endpoint) takeEvents() {
	for _, e := range d.inbox.take() {
		switch e.kind {
		case linkAccepted, linkDialled:
			d.linkUp(e.link, e.kind == linkDialled)
		case linkEnding:
			addr, _ := e.link.Peer()
			d.eng.LinkEnding(d.eng.PeerOf(addr.NIC, addr.Endpoint), e.link)
		case linkDown:
			d.linkDown(e.link, e.cause)
		case dialFailed:
			d.reason[e.peer] = e.cause
			d.eng.LinkFailed(e.peer, codeOf(e.cause))
		}
	}
}

func (d *Endpoint) linkUp(l transport.Link, dialled bool) {
	addr, _ := l.Peer()
	peer := d.eng.PeerOf(addr.NIC, addr.Endpoint)
	l.Bind(peer)
	if c := l.Caps(); !c.Reliable || !c.Ordered {
		d.lossy = true
	}
	delete(d.reason, peer)
	d.eng.LinkUp(peer, l, dialled)
}

func (d *Endpoint) linkDown(l transport.Link, cause error) {
	addr, _ := l.Peer()
	peer := d.eng.PeerOf(addr.NIC, addr.Endpoint)
	d.reason[peer] = cause
	d.eng.LinkDown(peer, l)
	l.Close()
}

// codeOf maps why there is no link to the status of the connect.
func codeOf(err error) endpoint.Code {
	if errors.Is(err, transport.ErrNoPeer) {
		return endpoint.EndpointClosed
	}
	return endpoint.EndpointUnreachable
}

// Reason returns why the last attempt to reach a peer failed, or why its link
// ended, or nil.
func (d *Endpoint) Reason(nic uint64, id uint32) error {
	d.lock()
	defer d.unlock()
	return d.reason[d.eng.PeerOf(nic, id)]
}

// host is the Endpoint as its engine sees it.
type host Endpoint

// Dial tries the transports in turn, in a goroutine of its own.
func (h *host) Dial(peer int32, nic uint64, id uint32) {
	d := (*Endpoint)(h)
	ports := slices.Clone(d.ports)
	d.dials.Add(1)
	go func() {
		defer d.dials.Done()
		link, err := dialAny(d.life, ports, transport.Address{NIC: nic, Endpoint: id})
		if err != nil {
			d.inbox.put(event{kind: dialFailed, peer: peer, cause: err})
			return
		}
		d.inbox.put(event{kind: linkDialled, peer: peer, link: link})
	}()
}

// dialAny returns the first link to be had, or what each transport said.
func dialAny(ctx context.Context, ports []transport.Port, to transport.Address) (transport.Link, error) {
	var errs []error
	for _, p := range ports {
		l, err := p.Dial(ctx, to)
		if err == nil {
			return l, nil
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return nil, fmt.Errorf("%v: %w: the endpoint was opened without transports", to, transport.ErrNoRoute)
	}
	return nil, errors.Join(errs...)
}

// Drop closes a link that the engine has given up.
func (h *host) Drop(_ int32, l wire.Link, corrupt bool) {
	d := (*Endpoint)(h)
	if corrupt {
		d.oddities[transport.CorruptFrames].Add(1)
	}
	if tl, ok := l.(transport.Link); ok {
		tl.Close()
	}
}
