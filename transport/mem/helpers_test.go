package mem_test

import (
	"sync"
	"testing"

	"gomx/transport"
	"gomx/transport/mem"
	"gomx/transport/wire"
)

// events keeps what a port tells.
type events struct {
	mu       sync.Mutex
	accepted []transport.Link
	downs    chan error
}

func newEvents() *events { return &events{downs: make(chan error, 100)} }

func (e *events) Accepted(l transport.Link) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.accepted = append(e.accepted, l)
}

func (e *events) Down(_ transport.Link, reason error) { e.downs <- reason }

func (e *events) Refused(error)           {}
func (e *events) Count(transport.Counter) {}
func (e *events) Soon()                   {}

func (e *events) takeAccepted() []transport.Link {
	e.mu.Lock()
	defer e.mu.Unlock()
	links := e.accepted
	e.accepted = nil
	return links
}

// handler makes a Handler of a function.
type handler func(peer int32, h *wire.Header, payload []byte) bool

func (f handler) Frame(peer int32, h *wire.Header, payload []byte) bool { return f(peer, h, payload) }
func (f handler) PullFinished(uint64, bool)                             {}
func (f handler) Land(int32, *wire.Header) *wire.Vec                    { return nil }
func (f handler) Landed(int32, *wire.Header)                            {}

func address(i int) transport.Address {
	return transport.Address{NIC: 0x02000a000001, Endpoint: uint32(i)}
}

func open(t testing.TB, n *mem.Network, i int) (*mem.Port, *events) {
	t.Helper()
	e := newEvents()
	p, err := n.Open(transport.Open{Self: address(i), Session: uint32(i), Events: e})
	if err != nil {
		t.Fatal(err)
	}
	return p.(*mem.Port), e
}

// pair opens endpoints 0 and 1 with a bound link between them.
func pair(t testing.TB, n *mem.Network) (a, b *mem.Port, toB, toA transport.Link, bEvents *events) {
	t.Helper()
	a, _ = open(t, n, 0)
	b, bEvents = open(t, n, 1)
	toB, err := a.Dial(t.Context(), address(1))
	if err != nil {
		t.Fatal(err)
	}
	toA = bEvents.takeAccepted()[0]
	toB.Bind(1)
	toA.Bind(0)
	return a, b, toB, toA, bEvents
}

// numbered sends count empty frames, numbered from first on.
func numbered(l transport.Link, first, count int) {
	for i := range count {
		l.Send(&wire.Header{Kind: wire.Eager, Seq: uint32(first + i)}, nil, 0)
	}
}

// collect polls so many times and returns the numbers of the frames that came.
func collect(p *mem.Port, polls int) (numbers []uint32) {
	for range polls {
		p.Poll(handler(func(_ int32, h *wire.Header, _ []byte) bool {
			numbers = append(numbers, h.Seq)
			return true
		}))
	}
	return numbers
}
