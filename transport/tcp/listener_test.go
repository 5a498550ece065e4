//go:build linux

package tcp_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/transport"
	"gomx/transport/tcp"
)

// both are the purposes of most endpoints here.
var both = []tcp.Purpose{tcp.Frames, tcp.RDMA}

const rdma = uint32(tcp.RDMA)

// join opens a Listener for RDMA at e's endpoint.
func join(t testing.TB, tr *tcp.Transport, e *end, welcome tcp.Exchange) *tcp.Listener {
	t.Helper()
	d, err := tr.Join(transport.Open{Self: e.self, Session: 100 + e.self.Endpoint, Events: e}, tcp.RDMA, welcome)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeListener(t, d) })
	return d
}

func closeListener(t testing.TB, d *tcp.Listener) {
	t.Helper()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// listenerPair opens endpoint 0 and 1 with options of their own, each for frames and
// RDMA.
func listenerPair(t *testing.T, near, far tcp.Options, welcome tcp.Exchange) (a, b *end, d *tcp.Listener) {
	t.Helper()
	far.Serves = both
	tr := loopback(home4, far)
	b = open(t, tr, 1)
	join(t, tr, b, welcome)
	at := netip.MustParseAddrPort(listensOn(t, b))
	near.Serves, near.PortBase, near.Ports = both, int(at.Port())-1, portsOfTest
	near.Listen = func(transport.Address) []netip.Addr { return []netip.Addr{home4} }
	near.Addrs = func(uint64) []netip.Addr { return []netip.Addr{home4} }
	tr = tcp.New(near)
	a = open(t, tr, 0)
	return a, b, join(t, tr, a, unwelcome(t))
}

func unwelcome(t testing.TB) tcp.Exchange {
	return func(_ context.Context, m *tcp.Peer) error {
		t.Errorf("%v was admitted", m.Address)
		return nil
	}
}

// echo sends back what it gets, in the exchange and afterwards.
func echo(_ context.Context, m *tcp.Peer) error {
	if _, err := io.CopyN(m.Conn, m.Conn, int64(len(question))); err != nil {
		return err
	}
	c, err := m.Take()
	if err == nil {
		go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
	}
	return err
}

var question = []byte("who is there, and which queue pair?")

// ask wants an echo.
func ask(c net.Conn) error {
	if _, err := c.Write(question); err != nil {
		return err
	}
	got := make([]byte, len(question))
	if _, err := io.ReadFull(c, got); err != nil {
		return err
	}
	if !bytes.Equal(got, question) {
		return errors.New("that is no echo: " + string(got))
	}
	return nil
}

func dialListener(t testing.TB, d *tcp.Listener, peer transport.Address, finish tcp.Exchange) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return d.Dial(ctx, peer, finish)
}

// keep dials a peer that echoes and returns the connection.
func keep(t testing.TB, d *tcp.Listener, peer *end) (c net.Conn) {
	t.Helper()
	err := dialListener(t, d, peer.self, func(ctx context.Context, m *tcp.Peer) (err error) {
		if m.Address != peer.self || m.Session != 100+peer.self.Endpoint || m.Remote.String() != listensOn(t, peer) {
			t.Errorf("met %v session %d at %v", m.Address, m.Session, m.Remote)
		}
		if _, ok := ctx.Deadline(); !ok {
			t.Error("the exchange has all the time in the world")
		}
		if err := ask(m.Conn); err != nil {
			return err
		}
		c, err = m.Take()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// notServed wants d's dial to say that the peer has no RDMA.
func notServed(t *testing.T, d *tcp.Listener, peer transport.Address) {
	t.Helper()
	err := dialListener(t, d, peer, unwelcome(t))
	if !errors.Is(err, transport.ErrUnsupported) || !errors.Is(err, transport.ErrRefused) ||
		!strings.Contains(err.Error(), "it does not speak RDMA") {
		t.Fatalf("dial: %v, want ErrUnsupported, ErrRefused and what is not spoken", err)
	}
}

// TestTwoPurposes has links and other connections between the same endpoints.
func TestTwoPurposes(t *testing.T) {
	authority := newAuthority(t)
	for name, opt := range map[string]tcp.Options{
		"plain":  {},
		"secret": {Secret: []byte("word")},
		"TLS":    {Secret: []byte("word"), TLS: authority.config()},
	} {
		t.Run(name, func(t *testing.T) {
			a, b, d := listenerPair(t, opt, opt, echo)
			c := keep(t, d, b)
			a.dial(b.self)
			b.link = b.accept()
			a.link.Bind(1)
			b.link.Bind(0)
			exchange(t, a, b)
			for range 3 { // it is ours, with all the time in the world
				if err := ask(c); err != nil {
					t.Fatal(err)
				}
			}
			if a.refused()+b.refused() != 0 {
				t.Error("somebody was refused")
			}
		})
	}
}

// TestKeptConnection wants what was taken to outlive the Listener, the context and the
// time for the handshake.
func TestKeptConnection(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	opt := tcp.Options{ConnectTimeout: time.Second}
	_, b, d := listenerPair(t, opt, opt, echo)
	c := keep(t, d, b)
	closeListener(t, d)
	_ = c.SetReadDeadline(time.Now().Add(opt.ConnectTimeout + opt.ConnectTimeout/5))
	if n, err := c.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("read %d bytes, %v; want a connection that lives", n, err)
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
	if err := ask(c); err != nil {
		t.Error(err)
	}
}

// TestPurposeNotServed dials a peer without RDMA, which does not mind, and then
// takes frames.
func TestPurposeNotServed(t *testing.T) {
	for _, secret := range []string{"", "word"} {
		far := loopback(home4, tcp.Options{Secret: []byte(secret)})
		b := open(t, far, 1)
		at := netip.MustParseAddrPort(listensOn(t, b))
		near := tcp.New(tcp.Options{
			PortBase: int(at.Port()) - 1, Ports: portsOfTest, Secret: []byte(secret), Serves: both,
			Listen: func(transport.Address) []netip.Addr { return []netip.Addr{home4} },
			Addrs:  func(uint64) []netip.Addr { return []netip.Addr{home4} },
		})
		a := open(t, near, 0)
		d := join(t, near, a, unwelcome(t))
		for range 10 {
			notServed(t, d, b.self)
		}
		a.dial(b.self)
		if who, _ := b.accept().Peer(); who != a.self {
			t.Errorf("accepted %v, want %v", who, a.self)
		}
		dialFails(t, a, transport.Address{NIC: testBoard + 7, Endpoint: 1}, transport.ErrRefused)
		refusal(t, b, "it wants")
		if n := b.refused(); n != 1 {
			t.Errorf("%d refusals, want 1: no RDMA is no oddity", n)
		}
	}
}

// TestDialWhileItCloses dials an endpoint that does not take frames any more, and still serves its other purpose.
func TestDialWhileItCloses(t *testing.T) {
	a, b, _ := listenerPair(t, tcp.Options{}, tcp.Options{}, echo)
	if err := b.port.Close(); err != nil {
		t.Fatal(err)
	}
	dialFails(t, a, b.self, transport.ErrNoPeer, "is being closed")
}

// TestFramesNotServed dials an endpoint that serves the other purpose alone.
func TestFramesNotServed(t *testing.T) {
	near, far := loopback(home4, tcp.Options{}), &end{t: t, self: transport.Address{NIC: testBoard, Endpoint: 1}}
	a := open(t, near, 0)
	at := netip.MustParseAddrPort(listensOn(t, a))
	join(t, tcp.New(tcp.Options{
		PortBase: int(at.Port()), Ports: portsOfTest, Serves: []tcp.Purpose{tcp.RDMA},
		Listen: func(transport.Address) []netip.Addr { return []netip.Addr{home4} },
	}), far, unwelcome(t))
	dialFails(t, a, far.self, transport.ErrRefused, "it does not speak frames")
}

// TestNotServedOnTheWire plays the dialler, of a purpose that nobody knows.
func TestNotServedOnTheWire(t *testing.T) {
	e := open(t, loopback(home4, tcp.Options{}), 0)
	c := call(t, e)
	hello := proper(stranger, e.self)
	hello.purpose = 4711
	say(t, c, hello.bytes())
	answer := hear(t, c, greetingSize)
	if purpose := binary.LittleEndian.Uint32(answer[44:]); answer[14] != 7 || purpose != 4711 {
		t.Errorf("answer %d to purpose %d, want 7 to 4711", answer[14], purpose)
	}
	hungUp(t, c)
}

// TestDialledServesAnother plays a peer that welcomes for another purpose.
func TestDialledServesAnother(t *testing.T) {
	a, peer, conns := dialsUs(t, tcp.Options{})
	go func() {
		answer := proper(peer, a.self)
		answer.purpose = rdma
		_, _ = (<-conns).Write(answer.bytes())
	}()
	dialFails(t, a, peer, transport.ErrRefused, "it speaks RDMA in place of frames")
}

// TestAcceptsOnceAllIsOpen has a connection wait for the second purpose.
func TestAcceptsOnceAllIsOpen(t *testing.T) {
	tr := loopback(home4, tcp.Options{Serves: both})
	e := open(t, tr, 0)
	c := call(t, e)
	hello := proper(stranger, e.self)
	hello.purpose = rdma
	say(t, c, append(hello.bytes(), make([]byte, proofSize)...))
	_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := c.Read(make([]byte, 1)); n != 0 || !isTimeout(err) {
		t.Fatalf("answered with %d bytes, %v, before all was open", n, err)
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
	join(t, tr, e, echo)
	hear(t, c, greetingSize+verdictSize)
	if err := ask(c); err != nil {
		t.Error(err)
	}
}

func TestClaims(t *testing.T) {
	tr := loopback(home4, tcp.Options{Serves: both})
	e := open(t, tr, 0)
	at := transport.Open{Self: e.self, Session: 100, Events: e}
	other := at
	other.Session++
	if _, err := tr.Join(other, tcp.RDMA, echo); !errors.Is(err, transport.ErrBusy) {
		t.Errorf("join with another session: %v, want ErrBusy", err)
	}
	d := join(t, tr, e, echo)
	if _, err := tr.Join(at, tcp.RDMA, echo); !errors.Is(err, transport.ErrBusy) {
		t.Errorf("second join: %v, want ErrBusy", err)
	}
	if _, err := tr.Join(at, 9, echo); !errors.Is(err, transport.ErrUnsupported) {
		t.Errorf("join for a purpose that is not served: %v, want ErrUnsupported", err)
	}

	free := func() bool {
		l, err := net.Listen("tcp4", listensOn(t, e))
		if err == nil {
			_ = l.Close()
		}
		return err == nil
	}
	_ = e.port.Close()
	if free() {
		t.Error("the port was closed while a Listener is open")
	}
	closeListener(t, d)
	if !free() {
		t.Error("the port was not given back")
	}
	if err := dialListener(t, d, e.self, unwelcome(t)); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("dial from a closed Listener: %v, want ErrClosed", err)
	}
	e = open(t, tr, 0)
	join(t, tr, e, echo)
	keep(t, join(t, tr, open(t, tr, 1), unwelcome(t)), e)
}

// TestOneListenerCloses wants the others to go on, and it to come back.
func TestOneListenerCloses(t *testing.T) {
	tr := loopback(home4, tcp.Options{Serves: both})
	a, b := open(t, tr, 0), open(t, tr, 1)
	near, far := join(t, tr, a, unwelcome(t)), join(t, tr, b, echo)
	keep(t, near, b)
	closeListener(t, far)
	err := dialListener(t, near, b.self, unwelcome(t))
	if !errors.Is(err, transport.ErrNoPeer) || b.refused() != 0 {
		t.Errorf("dial: %v, and %d refusals; want ErrNoPeer and none", err, b.refused())
	}
	a.dial(b.self)
	join(t, tr, b, echo)
	keep(t, near, b)
}

// TestCloseDuringWelcome has exchanges that hang.
func TestCloseDuringExchange(t *testing.T) {
	for name, hang := range map[string]func(context.Context, *tcp.Peer) error{
		"reading": func(_ context.Context, m *tcp.Peer) error { _, err := m.Conn.Read(make([]byte, 1)); return err },
		"waiting": func(ctx context.Context, _ *tcp.Peer) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			started := make(chan bool, 9)
			welcome := func(ctx context.Context, m *tcp.Peer) error { started <- true; return hang(ctx, m) }
			tr := loopback(home4, tcp.Options{Serves: both, ConnectTimeout: 10 * patience})
			a, b := open(t, tr, 0), open(t, tr, 1)
			near, far := join(t, tr, a, unwelcome(t)), join(t, tr, b, welcome)
			dialled := make(chan error, 1)
			go func() { dialled <- dialListener(t, near, b.self, hang) }()
			<-started
			closeListener(t, far)
			if name == "reading" { // it has come again meanwhile
				if err := <-dialled; !errors.Is(err, transport.ErrNoPeer) {
					t.Errorf("dial: %v, want ErrNoPeer", err)
				}
				return
			}
			closeListener(t, near)
			if err := <-dialled; !errors.Is(err, transport.ErrClosed) {
				t.Errorf("dial: %v, want ErrClosed", err)
			}
			if n := b.refused(); n != 0 {
				t.Errorf("%d refusals, want none: it was we who broke it off", n)
			}
		})
	}
}

// TestStrangersGetNothing has peers that can't prove themselves dial for RDMA.
func TestStrangersGetNothing(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	for name, c := range map[string]struct{ near, far tcp.Options }{
		"wrong secret":    {tcp.Options{Secret: []byte("one")}, tcp.Options{Secret: []byte("other")}},
		"no secret":       {tcp.Options{}, tcp.Options{Secret: []byte("other")}},
		"wrong authority": {tcp.Options{TLS: ours.config()}, tcp.Options{TLS: theirs.config()}},
	} {
		t.Run(name, func(t *testing.T) {
			_, b, d := listenerPair(t, c.near, c.far, unwelcome(t))
			if err := dialListener(t, d, b.self, unwelcome(t)); !errors.Is(err, transport.ErrRefused) ||
				errors.Is(err, transport.ErrUnsupported) {
				t.Errorf("dial: %v, want ErrRefused alone", err)
			}
			refusal(t, b)
		})
	}
}

// TestExchangeBrokenOff has the peer end two connections in the exchange.
func TestExchangeBrokenOff(t *testing.T) {
	var visits atomic.Int32
	_, b, d := listenerPair(t, tcp.Options{}, tcp.Options{}, func(ctx context.Context, m *tcp.Peer) error {
		if visits.Add(1) < 3 {
			return nil
		}
		return echo(ctx, m)
	})
	keep(t, d, b)
	if n := visits.Load(); n != 3 {
		t.Errorf("%d visits, want 3", n)
	}
}

// TestExchangeEvicted has the peer end each connection in the exchange, as one does to which
// very many come at once. It is there.
func TestExchangeEvicted(t *testing.T) {
	inTime(t, func(timeout time.Duration) bool {
		var visits atomic.Int32
		_, b, d := listenerPair(t, tcp.Options{ConnectTimeout: timeout}, tcp.Options{},
			func(context.Context, *tcp.Peer) error { visits.Add(1); return nil })
		err := dialListener(t, d, b.self, func(_ context.Context, m *tcp.Peer) error { return ask(m.Conn) })
		if !errors.Is(err, transport.ErrSlow) {
			t.Errorf("dial: %v, want ErrSlow", err)
		}
		return visits.Load() > 1 && errors.Is(err, transport.ErrRefused)
	})
}

// TestEvictionOfAnEarlierTry has the peer evict the first handshake, and hang up on the others
// without an answer: the last one counts.
func TestEvictionOfAnEarlierTry(t *testing.T) {
	inTime(t, func(timeout time.Duration) bool {
		a, peer, conns := dialsUs(t, tcp.Options{ConnectTimeout: timeout})
		var calls atomic.Int32
		go func() {
			for c := range conns {
				if calls.Add(1) == 1 {
					answers(c, peer, a.self)
				}
				_ = c.Close()
			}
		}()
		_, err := a.port.Dial(t.Context(), peer)
		return calls.Load() > 2 && errors.Is(err, transport.ErrRefused) && !errors.Is(err, transport.ErrSlow)
	})
}

// TestExchangeFails wants an error of the exchange reported, and no second exchange.
func TestExchangeFails(t *testing.T) {
	full := errors.New("no queue pair is left")
	_, b, d := listenerPair(t, tcp.Options{}, tcp.Options{}, func(_ context.Context, m *tcp.Peer) error {
		_, _ = m.Conn.Write([]byte{1})
		return full
	})
	calls := 0
	err := dialListener(t, d, b.self, func(_ context.Context, m *tcp.Peer) error {
		calls++
		_, _ = m.Conn.Read(make([]byte, 1))
		return full
	})
	if !errors.Is(err, full) || calls != 1 {
		t.Errorf("after %d calls: %v, want one and %v", calls, err, full)
	}
	refusal(t, b, full.Error(), "for RDMA")
}

// TestCrowdedExchange fills the set of pending handshakes with peers whose exchange
// hangs. One more dials, and the one that is evicted for it can't take its connection.
func TestCrowdedExchange(t *testing.T) {
	release, taken := make(chan bool), make(chan error, maxPending)
	tr := loopback(home4, tcp.Options{Serves: both, ConnectTimeout: patience})
	e := open(t, tr, 0)
	join(t, tr, e, func(_ context.Context, m *tcp.Peer) error {
		<-release
		c, err := m.Take()
		if err == nil {
			_ = c.Close()
		}
		taken <- err
		return err
	})
	hello := proper(stranger, e.self)
	hello.purpose = rdma
	for range maxPending {
		c := call(t, e)
		say(t, c, append(hello.bytes(), make([]byte, proofSize)...))
		hear(t, c, greetingSize+verdictSize)
	}
	c := call(t, e)
	say(t, c, hello.bytes())
	hear(t, c, greetingSize)
	close(release)
	failed := 0
	for range maxPending {
		if err := <-taken; err != nil {
			failed++
		}
	}
	if failed != 1 {
		t.Errorf("%d connections could not be taken, want 1", failed)
	}
	refusal(t, e, "was evicted for another peer")
}
