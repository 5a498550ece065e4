//go:build linux && cgo

package rdma_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"gomx/transport"
	"gomx/transport/rdma"
	"gomx/transport/tcp"
	"gomx/transport/wire"
)

// patience bounds how long a test waits for what must come.
const patience = 20 * time.Second

// end is one endpoint with one link.
type end struct {
	t       testing.TB
	address transport.Address
	port    transport.Port
	link    transport.Link
	take    func(h *wire.Header, payload []byte) bool // nil: takes all
	frames  int
	ended   int // pulls
	fine    int // of them

	mu       sync.Mutex
	accepted []transport.Link
	downs    []error
	refusals []error
	counts   [transport.CounterEnd]int
}

const board = 0x02007f000001

func open(t testing.TB, medium transport.Transport, id uint32) *end {
	t.Helper()
	e := &end{t: t, address: transport.Address{NIC: board, Endpoint: id}}
	bell := newBell(t)
	port, err := medium.Open(transport.Open{Self: e.address, Session: 1 + id, Events: e, Bell: bell})
	if err != nil {
		t.Fatal(err)
	}
	e.port = port
	t.Cleanup(func() { _ = port.Close(); bell.Close() })
	return e
}

// joined returns two endpoints with a link between them, which is bound at both.
func joined(t testing.TB, opt rdma.Options, handshake tcp.Options) (near, far *end) {
	t.Helper()
	medium := onDevice(t, opt, handshake)
	near, far = open(t, medium, 0), open(t, medium, 1)
	near.join(far)
	return near, far
}

// join dials far and binds both links.
func (e *end) join(far *end) {
	e.t.Helper()
	e.meet(far)
	e.link.Bind(1)
	far.link.Bind(0)
}

// meet is join, but for the binding.
func (e *end) meet(far *end) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	l, err := e.port.Dial(ctx, far.address)
	if err != nil {
		e.t.Fatal(err)
	}
	e.link = l
	await(e.t, "an accepted link", func() bool {
		far.mu.Lock()
		defer far.mu.Unlock()
		if n := len(far.accepted); n > 0 {
			far.link = far.accepted[n-1]
		}
		return len(far.accepted) > 0
	})
}

func await(t testing.TB, what string, done func() bool) {
	t.Helper()
	for begin := time.Now(); !done(); runtime.Gosched() {
		if time.Since(begin) > patience {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (e *end) register(t testing.TB, mem []byte) {
	t.Helper()
	release, err := e.port.(transport.Registrar).Register(mem)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := release(); err != nil {
			t.Error(err)
		}
	})
}

func (e *end) Frame(_ int32, h *wire.Header, payload []byte) bool {
	if e.take != nil && !e.take(h, payload) {
		return false
	}
	e.frames++
	return true
}

func (e *end) PullFinished(_ uint64, ok bool) {
	e.ended++
	if ok {
		e.fine++
	}
}

func (e *end) Land(int32, *wire.Header) *wire.Vec { return nil }

func (e *end) Landed(int32, *wire.Header) {}

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

func (e *end) Soon() {}

func (e *end) Refused(why error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refusals = append(e.refusals, why)
}

func (e *end) Count(what transport.Counter) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.counts[what]++
}

func (e *end) reasons() []error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]error(nil), e.downs...)
}
