package driver

import (
	"crypto/rand"
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"

	"gomx/endpoint"
	"gomx/transport"
	"gomx/transport/wire"
)

// event is something other than a frame that happened on a link.
type event struct {
	kind  eventKind
	link  transport.Link
	peer  int32 // dialled
	cause error // why the dial failed, or why the transports before that of the link failed
}

type eventKind uint8

const (
	linkAccepted eventKind = iota
	linkDown
	linkDialled
	dialFailed
)

// inbox carries events from the ports' goroutines to the poller.
type inbox struct {
	ring func()
	some atomic.Bool

	mu       sync.Mutex
	list     []event
	accepted int // how many events in list are accepted links
	closed   bool
}

func (b *inbox) full() bool { return b.some.Load() }

func (b *inbox) put(e event) {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return // the port closes all its links itself
	}
	b.list = append(b.list, e)
	if e.kind == linkAccepted {
		b.accepted++
	}
	b.some.Store(true)
	b.mu.Unlock()
	b.ring()
}

func (b *inbox) take() []event {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.list
	b.list, b.accepted = nil, 0
	b.some.Store(false)
	return list
}

// surplus removes the oldest accepted links, so that at most most of them are left.
func (b *inbox) surplus(most int) (links []transport.Link) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.accepted <= most {
		return nil
	}
	b.list = slices.DeleteFunc(b.list, func(e event) bool {
		if e.kind != linkAccepted || b.accepted <= most {
			return false
		}
		b.accepted--
		links = append(links, e.link)
		return true
	})
	return links
}

func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.list = true, nil
}

// events is the Endpoint as its ports see it.
type events Endpoint

func (d *events) Accepted(l transport.Link) { d.inbox.put(event{kind: linkAccepted, link: l}) }

func (d *events) Down(l transport.Link, reason error) {
	d.inbox.put(event{kind: linkDown, link: l, cause: reason})
}

// Soon makes the guard look much earlier than usual, in case nobody polls. Only Send calls it, so the lock is held.
func (d *events) Soon() { (*Endpoint)(d).back.soon() }

func (d *events) Refused(why error) {
	d.refused.Add(1)
	if d.log != nil {
		d.log(Happening{What: RefusedStranger, Cause: why})
	}
}

func (d *events) Count(what transport.Counter) { d.oddities[what].Add(1) }

// takeEvents tells the engine what happened. The lock is held.
func (d *Endpoint) takeEvents() {
	for _, e := range d.inbox.take() {
		switch e.kind {
		case linkAccepted:
			d.linkUp(e.link, false)
		case linkDialled:
			d.routeTo(e.peer).instead = e.cause
			d.linkUp(e.link, true)
		case linkDown:
			d.linkDown(e.link, e.cause)
		case dialFailed:
			d.routeTo(e.peer).failure = e.cause
			d.tell(NotReached, e.peer, 0, e.cause)
			d.eng.LinkFailed(e.peer, codeOf(e.cause))
		}
	}
}

// turnAway bounds the links that strangers make while no pass is permitted. During passes the engine bounds them. The
// lock is held.
func (d *Endpoint) turnAway() {
	links := d.inbox.surplus(d.eng.MostStrangers())
	for _, l := range links {
		l.Close()
	}
	d.eng.StrangersLeft(len(links))
}

func (d *Endpoint) linkUp(l transport.Link, dialled bool) {
	addr, _ := l.Peer()
	peer := d.eng.LinkOwner(addr.NIC, addr.Endpoint, l, dialled)
	l.Bind(peer)
	if c := l.Caps(); !c.Reliable || !c.Ordered {
		d.lossy = true
	}
	if dialled || peer == 0 {
		r := d.routeTo(peer)
		r.at, r.failure = addr, nil
	}
	d.eng.LinkUp(peer, l, dialled)
}

func (d *Endpoint) linkDown(l transport.Link, cause error) {
	addr, _ := l.Peer()
	if peer := d.eng.LinkOf(l, addr.NIC, addr.Endpoint); peer >= 0 {
		if r := d.routes[peer]; r != nil { // without a route the link was a stranger's
			r.failure = cause
		}
		d.eng.LinkDown(peer, l)
	}
	l.Close()
}

// host is the Endpoint as its engine sees it.
type host Endpoint

// Adopted notes the way to a peer that has reached us.
func (h *host) Adopted(peer int32, l wire.Link) {
	tl := l.(transport.Link)
	tl.Bind(peer)
	r := (*Endpoint)(h).routeTo(peer)
	r.at, _ = tl.Peer()
	r.failure = nil
}

// Random draws from the system's generator.
func (h *host) Random() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// Tick tells the engine what time it is.
func (h *host) Tick() endpoint.Tick {
	d := (*Endpoint)(h)
	return d.tick(d.clock())
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
