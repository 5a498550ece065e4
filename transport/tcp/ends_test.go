//go:build linux

package tcp_test

import (
	"context"
	"flag"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"gomx/transport"
	"gomx/transport/tcp"
	"gomx/transport/wire"
)

// patience bounds how long a test waits for what must come.
const patience = 20 * time.Second

// end is one endpoint as a driver would keep it, used by one goroutine at a time
// but for its Events.
type end struct {
	t    testing.TB
	self transport.Address
	port transport.Port
	bell transport.Doorbell
	link transport.Link

	take   func(peer int32, h *wire.Header, payload []byte) bool
	place  func(h *wire.Header) *wire.Vec
	land   func(h *wire.Header)
	landed []wire.Header

	mu       sync.Mutex
	accepted []transport.Link
	downs    []error
	refusals []error
	counts   [transport.CounterEnd]int
	soons    int
}

const testBoard = 0x02007f000001

func open(t testing.TB, tr *tcp.Transport, id uint32) *end {
	t.Helper()
	e := &end{t: t, self: transport.Address{NIC: testBoard, Endpoint: id}, bell: newBell(t)}
	port, err := tr.Open(transport.Open{Self: e.self, Session: 100 + id, Events: e, Bell: e.bell})
	if err != nil {
		t.Fatal(err)
	}
	e.port = port
	t.Cleanup(func() {
		if err := e.port.Close(); err != nil {
			t.Error(err)
		}
		e.bell.Close()
	})
	return e
}

// joined returns two endpoints with a bound link between them.
func joined(t testing.TB, opt tcp.Options) (near, far *end) {
	t.Helper()
	tr := loopback(home4, opt)
	near, far = open(t, tr, 0), open(t, tr, 1)
	near.dial(far.self)
	far.link = far.accept()
	near.link.Bind(1)
	far.link.Bind(0)
	return near, far
}

func (e *end) dial(peer transport.Address) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	l, err := e.port.Dial(ctx, peer)
	if err != nil {
		e.t.Fatal(err)
	}
	e.link = l
}

func (e *end) accept() (l transport.Link) {
	e.t.Helper()
	await(e.t, "an accepted link", func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		if len(e.accepted) == 0 {
			return false
		}
		l = e.accepted[0]
		e.accepted = e.accepted[1:]
		return true
	})
	return l
}

// await polls the ends until done says so.
func await(t testing.TB, what string, done func() bool, ends ...*end) {
	t.Helper()
	for idle, began := 0, time.Now(); !done(); runtime.Gosched() {
		if time.Since(began) > patience {
			t.Fatalf("waited in vain for %s", what)
		}
		if idle++; idle > 1000 { // what is awaited takes its time, and other tests need the processors
			time.Sleep(50 * time.Microsecond)
		}
		for _, e := range ends {
			if e.port.Poll(e) > 0 {
				idle = 0
			}
		}
	}
}

func (e *end) Frame(peer int32, h *wire.Header, payload []byte) bool {
	return e.take == nil || e.take(peer, h, payload)
}

func (e *end) Land(_ int32, h *wire.Header) *wire.Vec {
	if e.place == nil {
		return nil
	}
	return e.place(h)
}

func (e *end) Landed(_ int32, h *wire.Header) {
	if e.land != nil {
		e.land(h)
		return
	}
	e.landed = append(e.landed, *h)
}

func (e *end) PullFinished(uint64, bool) { e.t.Error("a pull finished that was never started") }

func (e *end) Accepted(l transport.Link) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.accepted = append(e.accepted, l)
}

func (e *end) Down(_ transport.Link, reason error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.downs = append(e.downs, reason)
}

func (e *end) Count(what transport.Counter) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.counts[what]++
}

func (e *end) Refused(why error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refusals = append(e.refusals, why)
}

func (e *end) refused() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.refusals)
}

func (e *end) Soon() { e.soons++ }

func (e *end) count(what transport.Counter) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.counts[what]
}

func (e *end) down() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.downs) == 0 {
		return nil
	}
	return e.downs[0]
}

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "8") // unless the command line says otherwise: tests that run beside others wait most of the time
	os.Exit(m.Run())
}
