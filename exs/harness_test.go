package exs_test

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"
	"time"

	"gomx/exs"
	"gomx/mx"
)

// bound ends every wait of the tests, so that none can hang.
const bound = 10 * time.Second

// media are what the connections of the tests run over. The last one is there in the
// machine of integration/rdmavm.
var media = []string{"one library", "mem", "shm", "tcp", "rdma"}

// world is one test: two libraries over a medium, or one that talks to itself.
type world struct {
	testing.TB
	here, there *exs.Library
}

// over runs a test over each medium, with each type of socket that is named.
func over(t *testing.T, types []int, f func(w *world, typ int)) {
	t.Helper()
	for _, medium := range media {
		for _, typ := range types {
			t.Run(medium+"/"+map[int]string{exs.Stream: "stream", exs.SeqPacket: "packets"}[typ], func(t *testing.T) {
				f(newWorld(t, medium), typ)
			})
		}
	}
}

var (
	both    = []int{exs.Stream, exs.SeqPacket}
	packets = []int{exs.SeqPacket}
	streams = []int{exs.Stream}
)

func newWorld(t testing.TB, medium string) *world {
	t.Helper()
	w := &world{TB: t}
	if medium == "one library" {
		w.here = w.open()
		w.there = w.here
		return w
	}
	_ = mx.Init()
	for _, info := range mx.Transports() {
		if info.Name == medium && !info.Available {
			t.Skipf("transport %s: %s", medium, info.Reason)
		}
	}
	w.here, w.there = w.open(mx.WithTransports(medium)), w.open(mx.WithTransports(medium))
	return w
}

func (w *world) open(params ...mx.Param) *exs.Library {
	w.Helper()
	l, err := exs.Open(exs.Version1, params...)
	w.ok(err)
	w.Cleanup(func() { _ = l.Close() })
	return l
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// refused checks an error's number.
func refused(t testing.TB, err error, n exs.Errno) {
	t.Helper()
	if !errors.Is(err, n) {
		t.Errorf("error %v, want %v", err, n)
	}
}

var loopback = netip.MustParseAddrPort("127.0.0.1:0")

func (w *world) socket(l *exs.Library, typ int) *exs.Socket {
	w.Helper()
	s, err := l.Socket(exs.Inet, typ, 0)
	w.ok(err)
	return s
}

func (w *world) queue(l *exs.Library) *exs.Queue {
	w.Helper()
	q, err := l.Queue(4)
	w.ok(err)
	return q
}

// listener returns a socket that listens, and its address.
func (w *world) listener(typ int) (*exs.Socket, netip.AddrPort) {
	w.Helper()
	s := w.socket(w.there, typ)
	w.ok(s.Bind(loopback))
	w.ok(s.Listen(5))
	addr, err := s.SockName()
	w.ok(err)
	return s, addr
}

// pair is a connection.
type pair struct {
	*world
	a, b   *exs.Socket
	qa, qb *exs.Queue
}

// connect makes a connection, between sockets that prepare has seen.
func (w *world) connect(typ int, prepare ...func(*exs.Socket)) *pair {
	w.Helper()
	p := &pair{world: w, qa: w.queue(w.here), qb: w.queue(w.there)}
	l, addr := w.listener(typ)
	p.a = w.socket(w.here, typ)
	for _, f := range prepare {
		f(l)
		f(p.a)
	}
	w.ok(p.a.Connect(addr, 0, bound, p.qa, "connect"))
	_, err := l.Accept([]exs.AcceptAddr{{AHandle: "accept"}}, 0, p.qb)
	w.ok(err)
	e := w.event(p.qb, exs.EvtAccept, 0)
	if e.Socket != l || e.AHandle != "accept" || e.NewSocket == nil {
		w.Fatalf("%+v", e)
	}
	p.b = e.NewSocket
	e = w.event(p.qa, exs.EvtConnect, 0)
	if e.Socket != p.a || e.AHandle != "connect" {
		w.Fatalf("%+v", e)
	}
	w.ok(l.BlockingClose())
	return p
}

// event takes one event, which must be of a type and have ended so.
func (w *world) event(q *exs.Queue, typ exs.EventType, n exs.Errno) exs.Event {
	w.Helper()
	var e [1]exs.Event
	got, err := q.Dequeue(e[:], bound)
	w.ok(err)
	if got != 1 {
		w.Fatalf("no event of type %v within %v", typ, bound)
	}
	if e[0].Type != typ || e[0].Errno != n {
		w.Fatalf("event %v with %v, want %v with %v", e[0].Type, e[0].Errno, typ, n)
	}
	return e[0]
}

// none wants no event to come for a moment that is as long as it takes to look.
func (w *world) none(q *exs.Queue) {
	w.Helper()
	var e [1]exs.Event
	for range 20 {
		if n, err := q.Dequeue(e[:], 0); n != 0 || err != nil {
			w.Fatalf("%d events, %v: %+v", n, err, e)
		}
	}
}

func (p *pair) send(s *exs.Socket, q *exs.Queue, b []byte, flags exs.Flags) {
	p.Helper()
	_, err := s.Send(b, flags, q, nil, exs.Unregistered)
	p.ok(err)
}

func (p *pair) recv(s *exs.Socket, q *exs.Queue, b []byte, flags exs.Flags) {
	p.Helper()
	_, err := s.Recv(b, flags, q, nil, exs.Unregistered)
	p.ok(err)
}

// pattern makes n bytes that differ from place to place and from seed to seed.
func pattern(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i) ^ byte(i>>8)*31 ^ seed
	}
	return b
}

func (w *world) same(got, want []byte) {
	w.Helper()
	if !bytes.Equal(got, want) {
		w.Fatalf("%d bytes, not the %d that were sent", len(got), len(want))
	}
}

// within runs f and fails if it takes too long.
func (w *world) within(what string, f func()) {
	w.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(bound):
		w.Fatalf("not within %v: %s", bound, what)
	}
}

// endReceivesOfB ends the receives of b in one of the ways in which nothing more comes: b's direction to read is ended by
// either side (fin, shut), or the connection is (reset, close). It returns how they end.
func (p *pair) endReceivesOfB(how string) (want exs.Errno) {
	p.Helper()
	switch how {
	case "fin":
		p.ok(p.a.Shutdown(exs.ShutWR, exs.Block, nil, nil))
	case "shut":
		p.ok(p.b.Shutdown(exs.ShutRD, exs.Block, nil, nil))
	case "reset":
		want = exs.ECONNRESET
		p.ok(p.a.Close(exs.Block|exs.DontLinger, nil, nil))
	case "close":
		p.ok(p.b.Close(exs.Block, nil, nil))
	default:
		p.Fatalf("no way to end receives is %q", how)
	}
	return want
}
