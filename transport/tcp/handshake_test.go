//go:build linux

package tcp_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/transport"
	"gomx/transport/tcp"
	"gomx/transport/wire"
)

// twoSides opens endpoint 0 and 1 with options of their own.
func twoSides(t *testing.T, near, far tcp.Options) (a, b *end) {
	t.Helper()
	tr := loopback(home4, far)
	b = open(t, tr, 1)
	address := netip.MustParseAddrPort(listensOn(t, b))
	near.PortBase, near.Ports = int(address.Port())-1, portsOfTest
	near.Listen = func(transport.Address) []netip.Addr { return []netip.Addr{home4} }
	near.Addrs = func(uint64) []netip.Addr { return []netip.Addr{home4} }
	return open(t, tcp.New(near), 0), b
}

func dialFails(t *testing.T, a *end, peer transport.Address, is error, says ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := a.port.Dial(ctx, peer)
	if !errors.Is(err, is) {
		t.Fatalf("dial: %v, want %v", err, is)
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("dial: %q does not name %q", err, s)
		}
	}
	if strings.Contains(err.Error(), "dial") {
		t.Errorf("dial: %q says so itself", err)
	}
}

// refusal waits until e has refused a peer, and checks what it says about it.
func refusal(t *testing.T, e *end, says ...string) {
	t.Helper()
	await(t, "a refusal", func() bool { return e.refused() > 0 })
	why := diagnostic(t, e, "last refused")
	for _, s := range append(says, e.self.String()) {
		if !strings.Contains(why, s) {
			t.Errorf("refusal: %q does not name %q", why, s)
		}
	}
}

func TestSecrets(t *testing.T) {
	for _, c := range []struct{ name, near, far, nearSays, farSays string }{
		{"wrong", "one", "other", "secrets differ", "secrets differ"},
		{"only the dialler", "one", "", "this side", "it asks for a secret"},
		{"only the other", "", "other", "asks for a secret", "it has no secret"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := twoSides(t, tcp.Options{Secret: []byte(c.near)}, tcp.Options{Secret: []byte(c.far)})
			dialFails(t, a, b.self, transport.ErrRefused, c.nearSays)
			refusal(t, b, a.self.String(), c.farSays)
		})
	}
}

// TestProof computes the proofs from the hellos, as another implementation would.
func TestProof(t *testing.T) {
	tr := loopback(home4, tcp.Options{Secret: []byte("word")})
	e := open(t, tr, 0)
	c := call(t, e)
	hello := proper(stranger, e.self)
	hello.flags = 1
	hello.nonce[3] = 9
	say(t, c, hello.bytes())
	theirs := hear(t, c, greetingSize)
	proof := func(role string) []byte {
		mac := hmac.New(sha256.New, []byte("word"))
		mac.Write([]byte(role))
		mac.Write(hello.bytes())
		mac.Write(theirs)
		return mac.Sum(nil)
	}
	say(t, c, proof("gomx dialler"))
	verdict := hear(t, c, verdictSize)
	if binary.LittleEndian.Uint32(verdict) != 0 || !hmac.Equal(verdict[4:], proof("gomx acceptor")) {
		t.Errorf("verdict %x, want 0 and %x", verdict, proof("gomx acceptor"))
	}
	l := e.accept()
	if a, session := l.Peer(); a != stranger || session != hello.session {
		t.Errorf("peer %v session %d, want %v session %d", a, session, stranger, hello.session)
	}
}

// TestProofReflected plays the acceptor that sends the dialler's own proof back.
func TestProofReflected(t *testing.T) {
	a, peer, conns := dialsUs(t, tcp.Options{Secret: []byte("word")})
	go func() {
		c := <-conns
		got := make([]byte, greetingSize)
		if _, err := c.Read(got); err != nil {
			return
		}
		answer := proper(peer, a.self)
		answer.flags = 1
		_, _ = c.Write(answer.bytes())
		proof := make([]byte, proofSize)
		_, _ = c.Read(proof)
		_, _ = c.Write(append(make([]byte, 4), proof...))
	}()
	dialFails(t, a, peer, transport.ErrRefused, "does not know the secret")
}

// dialsUs opens an endpoint and a bare listener where it looks for a peer.
func dialsUs(t *testing.T, opt tcp.Options) (a *end, peer transport.Address, conns chan net.Conn) {
	t.Helper()
	tr := loopback(home4, opt)
	a = open(t, tr, 0)
	at := netip.MustParseAddrPort(listensOn(t, a))
	l, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(netip.AddrPortFrom(home4, at.Port()+1)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	conns = make(chan net.Conn, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
			conns <- c
		}
	}()
	return a, transport.Address{NIC: testBoard, Endpoint: 1}, conns
}

func TestOtherVersionDials(t *testing.T) {
	for name, change := range map[string]func(g *greeting){
		"older":  func(g *greeting) { g.version = 2 },
		"newer":  func(g *greeting) { g.version = 4 },
		"frames": func(g *greeting) { g.wire += 5 },
	} {
		t.Run(name, func(t *testing.T) {
			e := open(t, loopback(home4, tcp.Options{}), 0)
			c := call(t, e)
			hello := proper(stranger, e.self)
			change(&hello)
			say(t, c, hello.bytes())
			answer := hear(t, c, greetingSize)
			if answer[14] != 1 {
				t.Errorf("answer %d, want 1", answer[14])
			}
			hungUp(t, c)
			refusal(t, e, "speaks version", "refused 127.")
		})
	}
}

func TestDialledAnswersBadly(t *testing.T) {
	for _, c := range []struct {
		name, says string
		change     func(g *greeting)
	}{
		{"other version", fmt.Sprintf("speaks version 9.%d", wire.Version), func(g *greeting) { g.version = 9 }},
		{"other endpoint", "answered", func(g *greeting) { g.self.NIC++ }},
		{"meant for another", "it wants", func(g *greeting) { g.to.Endpoint++ }},
		{"stranger", "does not speak the gomx handshake", func(g *greeting) { g.magic = "SSH-2.0" }},
		{"claims a secret", "asks for a secret", func(g *greeting) { g.flags = 1 }},
		{"refuses", "another endpoint was meant", func(g *greeting) { g.answer = 2 }},
		{"unknown reason", "reason 999", func(g *greeting) { g.answer = 999 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, peer, conns := dialsUs(t, tcp.Options{})
			go func() {
				answer := proper(peer, a.self)
				c.change(&answer)
				_, _ = (<-conns).Write(answer.bytes())
			}()
			dialFails(t, a, peer, transport.ErrRefused, c.says)
		})
	}
}

// TestDialledHasABanner: a server that says a few bytes and waits for an answer is known by them, without waiting for more.
func TestDialledHasABanner(t *testing.T) {
	a, peer, conns := dialsUs(t, tcp.Options{ConnectTimeout: time.Hour})
	go func() {
		for c := range conns {
			_, _ = c.Write([]byte("SSH-2.0-OpenSSH_9.2\r\n"))
		}
	}()
	dialFails(t, a, peer, transport.ErrRefused, `does not speak the gomx handshake: it began with "SSH-2.0"`)
}

// TestDialledHangsUp has the peer end each connection. The dialler comes again, and
// gives up within its timeout.
func TestDialledHangsUp(t *testing.T) {
	inTime(t, func(timeout time.Duration) bool {
		a, peer, conns := dialsUs(t, tcp.Options{ConnectTimeout: timeout})
		go func() {
			for c := range conns {
				_ = c.Close()
			}
		}()
		_, err := a.port.Dial(t.Context(), peer)
		calls := 0
		if _, says, found := strings.Cut(fmt.Sprint(err), "tried "); found {
			_, _ = fmt.Sscanf(says, "%d times", &calls)
		}
		if calls > int(timeout/(2*time.Millisecond)) {
			t.Errorf("%d calls within %v, want some, with pauses that grow", calls, timeout)
		}
		return errors.Is(err, transport.ErrRefused) && calls > 1
	})
}

// answers plays a peer's part of the handshake but for the verdict.
func answers(c net.Conn, peer, caller transport.Address) {
	_, _ = io.ReadFull(c, make([]byte, greetingSize))
	answer := proper(peer, caller)
	_, _ = c.Write(answer.bytes())
	_, _ = io.ReadFull(c, make([]byte, proofSize))
}

// TestDialledEvicts has the peer answer, and end each connection then, as one does to which very many come at once. It is there.
func TestDialledEvicts(t *testing.T) {
	inTime(t, func(timeout time.Duration) bool {
		a, peer, conns := dialsUs(t, tcp.Options{ConnectTimeout: timeout})
		go func() {
			for c := range conns {
				answers(c, peer, a.self)
				_ = c.Close()
			}
		}()
		_, err := a.port.Dial(t.Context(), peer)
		if !errors.Is(err, transport.ErrSlow) {
			t.Errorf("dial: %v, want ErrSlow", err)
		}
		return strings.Contains(err.Error(), fmt.Sprintf("of %d", verdictSize))
	})
}

// TestDialledEvictsTheSilent has the peer end each connection without an answer, after it has waited for one as long as one does to which
// very many come at once: who dials may not have come to its hello.
func TestDialledEvictsTheSilent(t *testing.T) {
	a, peer, conns := dialsUs(t, tcp.Options{ConnectTimeout: tcp.LeastStay + 2*time.Millisecond}) // there is no time for another
	go func() {
		for c := range conns {
			time.Sleep(tcp.LeastStay)
			_, _ = io.ReadFull(c, make([]byte, greetingSize)) // or the end is a reset
			_ = c.Close()
		}
	}()
	if _, err := a.port.Dial(t.Context(), peer); !errors.Is(err, transport.ErrSlow) {
		t.Errorf("dial: %v, want ErrSlow", err)
	}
}

// inTime repeats what a busy machine may not come to within a time, with more of it.
func inTime(t *testing.T, comes func(timeout time.Duration) bool) {
	t.Helper()
	for timeout := 50 * time.Millisecond; timeout < patience; timeout *= 4 {
		if comes(timeout) {
			return
		}
	}
	t.Errorf("not within %v", patience)
}

// TestTurnedAway has the peer end two connections at different points of the
// handshake, and then answer.
func TestTurnedAway(t *testing.T) {
	a, peer, conns := dialsUs(t, tcp.Options{})
	go func() {
		for i := range 3 {
			c := <-conns
			if i > 0 {
				_, _ = io.ReadFull(c, make([]byte, greetingSize))
				answer := proper(peer, a.self)
				_, _ = c.Write(answer.bytes())
			}
			if i < 2 {
				_ = c.Close()
				continue
			}
			_, _ = io.ReadFull(c, make([]byte, proofSize))
			_, _ = c.Write(make([]byte, verdictSize))
		}
	}()
	a.dial(peer)
	if at, _ := a.link.Peer(); at != peer {
		t.Errorf("met %v, want %v", at, peer)
	}
}

// TestOtherBoard dials a board at the address of another one. Only who has proven
// itself is believed.
func TestOtherBoard(t *testing.T) {
	type handshake struct {
		answered uint64
		at       netip.Addr
	}
	for _, c := range []struct {
		name, near, far string
		proven          bool
		says            string
	}{
		{"no secret", "", "", true, "in place of"},
		{"secret", "word", "word", true, "in place of"},
		{"wrong secret", "word", "other", false, "secrets differ"},
		{"only here", "word", "", false, "this side"},
		{"only there", "", "word", false, "asks for a secret"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var others []handshake
			near := tcp.Options{Secret: []byte(c.near), Other: func(answered uint64, at netip.Addr) {
				others = append(others, handshake{answered, at})
			}}
			a, b := twoSides(t, near, tcp.Options{Secret: []byte(c.far)})
			asked := transport.Address{NIC: testBoard + 7, Endpoint: b.self.Endpoint}
			dialFails(t, a, asked, transport.ErrRefused, c.says)
			_, err := a.port.Dial(t.Context(), asked)
			wrong, ok := errors.AsType[*transport.WrongPeerError](err)
			if ok != c.proven || ok && (wrong.Asked != asked || wrong.Answered != b.self) {
				t.Errorf("dial: %v, want a WrongPeerError: %v", err, c.proven)
			}
			want := []handshake{{testBoard, home4}, {testBoard, home4}}
			if !c.proven {
				want = nil
			}
			if !slices.Equal(others, want) {
				t.Errorf("told %v, want %v", others, want)
			}
			refusal(t, b, a.self.String())
			if c.proven {
				a.dial(b.self)
			}
		})
	}
}

// TestOtherBoardUnproven plays a peer that claims to be another board and can't
// prove it.
func TestOtherBoardUnproven(t *testing.T) {
	a, peer, conns := dialsUs(t, tcp.Options{Secret: []byte("word"), Other: func(answered uint64, _ netip.Addr) {
		t.Errorf("believed %x", answered)
	}})
	go func() {
		c := <-conns
		_, _ = io.ReadFull(c, make([]byte, greetingSize))
		answer := proper(transport.Address{NIC: peer.NIC + 1, Endpoint: peer.Endpoint}, a.self)
		answer.flags, answer.answer = 1, 6
		_, _ = c.Write(answer.bytes())
		proof := make([]byte, proofSize)
		_, _ = io.ReadFull(c, proof)
		_, _ = c.Write(append([]byte{6, 0, 0, 0}, proof...))
	}()
	dialFails(t, a, peer, transport.ErrRefused, "does not know the secret")
}

func TestDialledSaysNothing(t *testing.T) {
	inTime(t, func(timeout time.Duration) bool {
		a, peer, _ := dialsUs(t, tcp.Options{ConnectTimeout: timeout})
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err := a.port.Dial(ctx, peer)
		if !errors.Is(err, transport.ErrSlow) || !strings.Contains(err.Error(), "timeout") || ctx.Err() != nil {
			t.Errorf("dial: %v, want a timeout of its own, and ErrSlow", err)
		}
		return strings.Contains(err.Error(), "stopped, or out of file descriptors") // what may be the matter
	})
}

func TestDialEndsWithContext(t *testing.T) {
	a, peer, conns := dialsUs(t, tcp.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-conns; cancel() }()
	if _, err := a.port.Dial(ctx, peer); !errors.Is(err, context.Canceled) {
		t.Errorf("dial: %v, want context.Canceled", err)
	}
}

func TestDialEndsWithPort(t *testing.T) {
	a, peer, conns := dialsUs(t, tcp.Options{})
	go func() { <-conns; _ = a.port.Close() }()
	if _, err := a.port.Dial(t.Context(), peer); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("dial: %v, want ErrClosed", err)
	}
}

// TestAddressesInTurn has the first two addresses refuse, and the third answer.
func TestAddressesInTurn(t *testing.T) {
	var addrs []netip.Addr
	met := make(chan netip.Addr, 2)
	opt := tcp.Options{OnPeer: func(nic uint64, from netip.Addr) {
		if nic == testBoard {
			met <- from
		}
	}}
	a, b := twoSides(t, opt, tcp.Options{})
	_ = a.port.Close()
	at := netip.MustParseAddrPort(listensOn(t, b))
	opt.PortBase, opt.Ports = int(at.Port())-1, portsOfTest
	opt.Listen = func(transport.Address) []netip.Addr { return []netip.Addr{home4} }
	opt.Addrs = func(uint64) []netip.Addr { return addrs }
	a = open(t, tcp.New(opt), 0)

	wrong := []netip.Addr{netip.MustParseAddr("127.0.0.7"), netip.MustParseAddr("127.0.0.8")}
	addrs = append(wrong, home4)
	a.dial(b.self)
	if from := <-met; from != home4 {
		t.Errorf("met at %v, want %v", from, home4)
	}
	addrs = wrong
	dialFails(t, a, b.self, transport.ErrNoPeer, "127.0.0.7:", "127.0.0.8:", "connection refused")
	addrs = nil
	dialFails(t, a, b.self, transport.ErrNoRoute, "no address")
	dialFails(t, a, transport.Address{NIC: testBoard, Endpoint: portsOfTest}, transport.ErrNoRoute, "has no port")
}

// TestMuteAddress has the first address accept connections and say nothing, for longer than the dial may take.
func TestMuteAddress(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	opt := tcp.Options{ConnectTimeout: 2 * patience}
	a, b := twoSides(t, opt, tcp.Options{})
	_ = a.port.Close()
	at := netip.MustParseAddrPort(listensOn(t, b))
	mute := netip.MustParseAddr("127.0.0.9")
	l, err := net.Listen("tcp", netip.AddrPortFrom(mute, at.Port()).String())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	opt.PortBase, opt.Ports = int(at.Port())-1, portsOfTest
	opt.Listen = func(transport.Address) []netip.Addr { return []netip.Addr{home4} }
	opt.Addrs = func(uint64) []netip.Addr { return []netip.Addr{mute, home4} }
	open(t, tcp.New(opt), 0).dial(b.self)
}

// TestMuteAddressBesideOneThatHangsUp has one address accept connections and say nothing, as the other one ends them. Both may be the same peer's, which
// has no time.
func TestMuteAddressBesideOneThatHangsUp(t *testing.T) {
	inTime(t, func(timeout time.Duration) bool {
		opt := tcp.Options{ConnectTimeout: timeout}
		a, peer, conns := dialsUs(t, opt)
		_ = a.port.Close()
		go func() {
			for c := range conns {
				_ = c.Close()
			}
		}()
		at := netip.MustParseAddrPort(listensOn(t, a))
		mute := netip.MustParseAddr("127.0.0.9")
		l, err := net.Listen("tcp", netip.AddrPortFrom(mute, at.Port()+1).String())
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		opt.PortBase, opt.Ports = int(at.Port()), portsOfTest
		opt.Listen = func(transport.Address) []netip.Addr { return []netip.Addr{home4} }
		opt.Addrs = func(uint64) []netip.Addr { return []netip.Addr{home4, mute} }
		_, err = open(t, tcp.New(opt), 0).port.Dial(t.Context(), peer)
		if !errors.Is(err, transport.ErrSlow) {
			t.Errorf("dial: %v, want ErrSlow", err)
		}
		return errors.Is(err, transport.ErrRefused)
	})
}

// TestOpensBetweenTwoAddresses has a peer open when its first address has refused already, while somebody accepts connections at the second and says
// nothing.
func TestOpensBetweenTwoAddresses(t *testing.T) {
	a := open(t, loopback(home4, tcp.Options{}), 0)
	at := netip.MustParseAddrPort(listensOn(t, a))
	_ = a.port.Close()
	mute := netip.MustParseAddr("127.0.0.9")
	l, err := net.Listen("tcp", netip.AddrPortFrom(mute, at.Port()+2).String())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tr := tcp.New(tcp.Options{
		ConnectTimeout: 500 * time.Millisecond, PortBase: int(at.Port()), Ports: portsOfTest,
		Listen: func(transport.Address) []netip.Addr { return []netip.Addr{home4} },
		Addrs:  func(uint64) []netip.Addr { return []netip.Addr{home4, mute} },
	})
	dialler, dialled := open(t, tr, 0), make(chan error)
	go func() {
		_, err := dialler.port.Dial(t.Context(), transport.Address{NIC: testBoard, Endpoint: 2})
		dialled <- err
	}()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	open(t, tr, 2)
	if err := <-dialled; err != nil {
		t.Error("dial:", err)
	}
}

func TestPortTaken(t *testing.T) {
	a, peer, _ := dialsUs(t, tcp.Options{})
	at := netip.MustParseAddrPort(listensOn(t, a))
	// The listener of dialsUs has the port of endpoint 1, on 127.0.0.1 alone.
	both := tcp.New(tcp.Options{
		PortBase: int(at.Port()), Ports: portsOfTest,
		Listen: func(transport.Address) []netip.Addr {
			return []netip.Addr{netip.MustParseAddr("127.0.0.2"), home4}
		},
	})
	open := func(id uint32) (transport.Port, error) {
		return both.Open(transport.Open{Self: transport.Address{NIC: 5, Endpoint: id}, Events: a, Bell: a.bell})
	}
	_, err := open(peer.Endpoint)
	if !errors.Is(err, transport.ErrBusy) || !strings.Contains(err.Error(), home4.String()+":") {
		t.Errorf("open: %v, want ErrBusy with the address", err)
	}
	l, err := net.Listen("tcp4", netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), at.Port()+1).String())
	if err != nil {
		t.Fatalf("the address that was free has not been given back: %v", err)
	}
	_ = l.Close()
	if _, err := open(portsOfTest); !errors.Is(err, transport.ErrNoRoute) {
		t.Errorf("open without a port: %v, want ErrNoRoute", err)
	}
}
