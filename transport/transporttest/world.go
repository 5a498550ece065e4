package transporttest

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"gomx/transport"
	"gomx/transport/wire"
)

// patience bounds how long a test waits for what must come.
const patience = 20 * time.Second

// world is where one subtest plays: a transport and the endpoints opened on it.
type world struct {
	t       *testing.T
	factory Factory
	medium  transport.Transport
	ends    []*end
	first   [2]*end // what pair returns
}

// end is one endpoint, as a driver would keep it. It is used by one goroutine at
// a time, but for its Events.
type end struct {
	world   *world
	address transport.Address
	session uint32
	port    transport.Port
	bell    transport.Doorbell
	link    transport.Link // the one the test speaks of

	take   func(peer int32, h *wire.Header, payload []byte) bool
	pulled func(id uint64, ok bool)

	mu       sync.Mutex
	accepted []transport.Link
	downs    []down
	frames   int // taken so far
}

type down struct {
	link   transport.Link
	reason error
	frames int // taken before
}

func newWorld(t *testing.T, f Factory) *world {
	w := &world{t: t, factory: f, medium: f.New(t)}
	if err := w.medium.Available(); err != nil {
		t.Skipf("%s is not available: %v", f.Name, err)
	}
	t.Cleanup(func() {
		for _, e := range w.ends {
			e.port.Close()
			e.bell.Close()
		}
	})
	return w
}

func (w *world) address(i int) transport.Address {
	if w.factory.Address != nil {
		return w.factory.Address(i)
	}
	return transport.Address{NIC: 0x02007f000001, Endpoint: uint32(i)}
}

// open opens endpoint i. Its sessions differ from endpoint to endpoint.
func (w *world) open(i int) *end {
	w.t.Helper()
	e := &end{world: w, address: w.address(i), session: uint32(0x5e550000 + len(w.ends)), bell: w.factory.NewBell(w.t)}
	port, err := w.medium.Open(transport.Open{Self: e.address, Session: e.session, Events: e, Bell: e.bell})
	if err != nil {
		w.t.Fatalf("open %v: %v", e.address, err)
	}
	e.port = port
	w.ends = append(w.ends, e)
	return e
}

// pair opens endpoints 0 and 1 with a link between them; the same two each time.
func (w *world) pair() (a, b *end) {
	w.t.Helper()
	if w.first[0] == nil {
		a, b = w.open(0), w.open(1)
		a.dial(b)
		b.link = b.awaitAccepted()
		w.first = [2]*end{a, b}
	}
	return w.first[0], w.first[1]
}

// boundPair is pair with both links bound: b is number 1 to a, a number 0 to b.
func (w *world) boundPair() (a, b *end) {
	w.t.Helper()
	a, b = w.pair()
	a.link.Bind(1)
	b.link.Bind(0)
	return a, b
}

func (e *end) dial(peer *end) {
	e.world.t.Helper()
	ctx, cancel := patienceContext()
	defer cancel()
	l, err := e.port.Dial(ctx, peer.address)
	if err != nil {
		e.world.t.Fatalf("dial %v: %v", peer.address, err)
	}
	e.link = l
}

// awaitAccepted returns the next link that was dialled to e.
func (e *end) awaitAccepted() (l transport.Link) {
	e.world.t.Helper()
	e.world.await("an accepted link", func() bool { l = e.nextAccepted(); return l != nil })
	return l
}

func (e *end) nextAccepted() transport.Link {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.accepted) == 0 {
		return nil
	}
	l := e.accepted[0]
	e.accepted = e.accepted[1:]
	return l
}

// await polls all endpoints until done says so.
func (w *world) await(what string, done func() bool) {
	w.t.Helper()
	for begin := time.Now(); !done(); {
		if time.Since(begin) > patience {
			w.t.Fatalf("waited in vain for %s", what)
		}
		w.pollAll()
	}
}

// pollAll polls each endpoint once.
func (w *world) pollAll() {
	for _, e := range w.ends {
		e.poll()
	}
	runtime.Gosched()
}

func (e *end) poll() int { return e.port.Poll(e) }

// send sends a frame, polling all endpoints while the medium says "again".
func (e *end) send(h *wire.Header, v *wire.Vec, off int) {
	e.world.t.Helper()
	e.world.await("room for a frame", func() bool { return e.link.Send(h, v, off) })
}

// Frame implements transport.Handler.
func (e *end) Frame(peer int32, h *wire.Header, payload []byte) bool {
	more := e.take == nil || e.take(peer, h, payload)
	e.mu.Lock()
	e.frames++
	e.mu.Unlock()
	return more
}

// Land has every payload handed to Frame.
func (e *end) Land(int32, *wire.Header) *wire.Vec { return nil }

// Landed is never called, as Land has no place.
func (e *end) Landed(int32, *wire.Header) {}

// PullFinished implements transport.Handler.
func (e *end) PullFinished(id uint64, ok bool) {
	if e.pulled == nil {
		e.world.t.Errorf("unexpected end of pull %d", id)
		return
	}
	e.pulled(id, ok)
}

// Accepted implements transport.Events.
func (e *end) Accepted(l transport.Link) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.accepted = append(e.accepted, l)
}

// Down implements transport.Events.
func (e *end) Down(l transport.Link, reason error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.downs = append(e.downs, down{l, reason, e.frames})
}

// Soon has whoever sleeps poll. Everybody else polls after Send anyway.
func (e *end) Soon() { e.bell.Ring() }

// Refused implements transport.Events.
func (e *end) Refused(why error) { e.world.t.Errorf("%v refused a peer: %v", e.address, why) }

// Count implements transport.Events.
func (e *end) Count(what transport.Counter) {
	e.world.t.Errorf("%v counted oddity %d", e.address, what)
}

func (e *end) allDowns() []down {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]down(nil), e.downs...)
}
