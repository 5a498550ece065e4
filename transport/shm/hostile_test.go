//go:build linux

package shm

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gomx/internal/testlength"
	"gomx/transport"
	"gomx/transport/bell"
	"gomx/transport/internal/segment"
	"gomx/transport/wire"
)

// recorder is the owner of a port under attack.
type recorder struct {
	counts   [transport.CounterEnd]atomic.Uint64
	mu       sync.Mutex
	accepted []transport.Link
	down     []error
	refusals []error
}

func (r *recorder) Accepted(l transport.Link) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accepted = append(r.accepted, l)
}

func (r *recorder) Down(_ transport.Link, reason error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = append(r.down, reason)
}

func (r *recorder) Soon()                        {}
func (r *recorder) Count(what transport.Counter) { r.counts[what].Add(1) }

func (r *recorder) Refused(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refusals = append(r.refusals, why)
}

func (r *recorder) refused() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.refusals)
}

// links takes the links that were accepted since the last call.
func (r *recorder) links() []transport.Link {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.accepted
	r.accepted = nil
	return list
}

func (r *recorder) ends() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.down)
}

var testBoards atomic.Uint64

// target opens a port to attack.
func target(t testing.TB) (*port, *recorder) {
	t.Helper()
	b, err := bell.New()
	if err != nil {
		t.Skip("no doorbells on this machine: ", err)
	}
	r := &recorder{}
	self := transport.Address{NIC: 1<<40 | uint64(os.Getpid())<<16 | testBoards.Add(1)}
	p, err := New(Options{}).Open(transport.Open{Self: self, Session: 1, Events: r, Bell: b})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close(); b.Close() })
	return p.(*port), r
}

// attacker speaks to a port's socket by hand. What it sends is well formed until
// a test spoils it.
type attacker struct {
	t     testing.TB
	conn  *net.UnixConn
	hello hello
	pair  *segment.Mem
	bell  *bell.Bell
}

func attack(t testing.TB, p *port) *attacker {
	t.Helper()
	c, err := net.DialUnix("unixpacket", nil, socketName(p.self))
	if err != nil {
		t.Fatal(err)
	}
	a := &attacker{t: t, conn: c, hello: hello{session: 7, self: transport.Address{NIC: 9, Endpoint: 9}}}
	if a.pair, err = segment.Create("gomx-attack", pairSize); err != nil {
		t.Fatal(err)
	}
	if a.bell, err = bell.New(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.leave)
	return a
}

func (a *attacker) leave() {
	_ = a.conn.Close()
	_ = a.pair.Close()
	a.bell.Close()
}

func (a *attacker) fds() []int {
	a.t.Helper()
	page, socket, err := a.bell.Invite()
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = unix.Close(socket) })
	return []int{a.pair.FD(), page, socket}
}

func (a *attacker) say(b []byte, fds ...int) {
	a.t.Helper()
	if err := segment.SendFDs(a.conn, b, fds...); err != nil {
		a.t.Fatal(err)
	}
}

// hung reports whether the port has closed the connection without an answer.
func (a *attacker) hung() bool {
	_ = a.conn.SetDeadline(time.Now().Add(2 * handshakeTime))
	for {
		var b [256]byte
		n, fds, err := segment.RecvFDs(a.conn, b[:], 8)
		closeFDs(fds)
		if err != nil || n == 0 {
			return !errors.Is(err, os.ErrDeadlineExceeded)
		}
	}
}

func (a *attacker) file(f func() (int, error)) int {
	a.t.Helper()
	fd, err := f()
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = unix.Close(fd) })
	return fd
}

func (a *attacker) memfd(size int64, seal bool) int {
	return a.file(func() (int, error) {
		fd, err := unix.MemfdCreate("gomx-attack", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		if err == nil {
			err = unix.Ftruncate(fd, size)
		}
		if err == nil && seal {
			_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW)
		}
		return fd, err
	})
}

func (a *attacker) pipe() int {
	a.t.Helper()
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = unix.Close(ends[0]); _ = unix.Close(ends[1]) })
	return ends[1]
}

// replaced returns the descriptors with one of them another.
func (a *attacker) replaced(i, fd int) []int {
	fds := a.fds()
	fds[i] = fd
	return fds
}

// Whatever is wrong with a hello, the stranger is refused and counted, and the
// next peer is welcome.
func TestBadHandshakes(t *testing.T) {
	spoil := func(i int, b byte) func(a *attacker) ([]byte, []int) {
		return func(a *attacker) ([]byte, []int) {
			m := a.hello.append(nil)
			m[i] ^= b
			return m, a.fds()
		}
	}
	for name, message := range map[string]func(a *attacker) ([]byte, []int){
		"wrong magic":   spoil(0, 1),
		"version 1":     spoil(7, version^1),
		"next version":  spoil(7, version^(version+1)),
		"short":         func(a *attacker) ([]byte, []int) { return a.hello.append(nil)[:20], a.fds() },
		"long":          func(a *attacker) ([]byte, []int) { return append(a.hello.append(nil), 0), a.fds() },
		"very long":     func(a *attacker) ([]byte, []int) { return make([]byte, 60_000), a.fds() },
		"no descriptor": func(a *attacker) ([]byte, []int) { return a.hello.append(nil), nil },
		"one too few":   func(a *attacker) ([]byte, []int) { return a.hello.append(nil), a.fds()[:2] },
		"one too many":  func(a *attacker) ([]byte, []int) { return a.hello.append(nil), append(a.fds(), a.pair.FD()) },
		"many": func(a *attacker) ([]byte, []int) {
			fds := a.fds()
			for len(fds) < 200 {
				fds = append(fds, a.pair.FD())
			}
			return a.hello.append(nil), fds
		},
		"unsealed segment": func(a *attacker) ([]byte, []int) {
			return a.hello.append(nil), a.replaced(0, a.memfd(pairSize, false))
		},
		"small segment": func(a *attacker) ([]byte, []int) {
			return a.hello.append(nil), a.replaced(0, a.memfd(pairSize-4096, true))
		},
		"large segment": func(a *attacker) ([]byte, []int) {
			return a.hello.append(nil), a.replaced(0, a.memfd(pairSize*2, true))
		},
		"pipe for a segment":  func(a *attacker) ([]byte, []int) { return a.hello.append(nil), a.replaced(0, a.pipe()) },
		"pipe for a doorbell": func(a *attacker) ([]byte, []int) { return a.hello.append(nil), a.replaced(2, a.pipe()) },
		"eventfd for a doorbell": func(a *attacker) ([]byte, []int) {
			fd := a.file(func() (int, error) { return unix.Eventfd(0, unix.EFD_CLOEXEC) })
			return a.hello.append(nil), a.replaced(2, fd)
		},
		"small page of the doorbell": func(a *attacker) ([]byte, []int) {
			return a.hello.append(nil), a.replaced(1, a.memfd(2048, true))
		},
		"socket for everything": func(a *attacker) ([]byte, []int) {
			fd := a.file(func() (int, error) { return unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0) })
			return a.hello.append(nil), []int{fd, fd, fd}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, r := target(t)
			a := attack(t, p)
			b, fds := message(a)
			a.say(b, fds...)
			if !a.hung() {
				t.Error("the stranger was not hung up on")
			}
			waitUntil(t, "the refusal is counted", func() bool { return r.refused() == 1 })
			if l := r.links(); len(l) != 0 {
				t.Error("the stranger has a link")
			}
			welcome(t, p, r)
		})
	}
}

// TestOutOfDescriptors sends a hello to a port whose process has no descriptors left for
// what goes with it. The port says so.
func TestOutOfDescriptors(t *testing.T) {
	p, _ := target(t)
	a := attack(t, p)
	listener, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: socketName(p.self).Name + "-full", Net: "unixpacket"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	dialler, err := net.DialUnix("unixpacket", nil, listener.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dialler.Close() }()
	acceptor, err := listener.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = acceptor.Close() }()
	if err := segment.SendFDs(dialler, a.hello.append(nil), a.fds()...); err != nil {
		t.Fatal(err)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	_, err = p.meet(acceptor)
	proven.Store(true)
	again := New(Options{}).Available()
	proven.Store(false)
	fresh := New(Options{}).Available()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, unix.EMFILE) {
		t.Errorf("the port welcomes the peer with %v, want %v", err, unix.EMFILE)
	}
	if again != nil || !errors.Is(fresh, transport.ErrNoDescriptors) {
		t.Errorf("the transport is available: %v where that was found before, %v where not", again, fresh)
	}
	if _, _, err = p.listen(dialler, 2); !errors.Is(err, errNoDescriptors) || !errors.Is(err, transport.ErrSlow) {
		t.Errorf("the dialler is told %v, want %v", err, errNoDescriptors)
	}
}

// TestFileSizeLimit: where the process may not make a file as large as what two peers share, the transport is not there, so that
// another one is used.
func TestFileSizeLimit(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: min(pairSize-1, limit.Max), Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	known := proven.Swap(false)
	err := New(Options{}).Available()
	proven.Store(known)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, transport.ErrUnsupported) || !strings.Contains(err.Error(), "ulimit -f") {
		t.Errorf("the transport is available: %v", err)
	}
}

// TestHungUpOn dials one who ends the handshake without a word.
func TestHungUpOn(t *testing.T) {
	p, _ := target(t)
	peer := transport.Address{NIC: p.self.NIC, Endpoint: 77}
	listener, err := net.ListenUnix("unixpacket", socketName(peer))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	go func() {
		if c, err := listener.AcceptUnix(); err == nil {
			_ = c.Close()
		}
	}()
	_, err = p.Dial(t.Context(), peer)
	if !errors.Is(err, transport.ErrSlow) || !strings.Contains(err.Error(), "out of file descriptors") {
		t.Errorf("dial: %v, want ErrSlow, and what may be the matter", err)
	}
}

// welcome checks that a good peer gets its link.
func welcome(t *testing.T, p *port, r *recorder) {
	t.Helper()
	good, _ := target(t)
	if _, err := good.Dial(context.Background(), p.self); err != nil {
		t.Fatal("a good peer:", err)
	}
	waitUntil(t, "the good peer is accepted", func() bool { return len(r.links()) == 1 })
}

// waitUntil polls for something that other goroutines bring about.
func waitUntil(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so after a long time: %s", what)
		}
	}
}

// A segment that peers share can't be made smaller under them.
func TestSegmentCantShrink(t *testing.T) {
	p, r := target(t)
	a := attack(t, p)
	a.say(a.hello.append(nil), a.fds()...)
	waitUntil(t, "accepted", func() bool { return len(r.links()) == 1 })
	if err := unix.Ftruncate(a.pair.FD(), 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("truncating the shared segment: %v", err)
	}
}

// Arenas are announced with nonsense: the link goes down or copies in another
// way, and nothing is mapped.
func TestBadArenas(t *testing.T) {
	place := func(base, size uint64) []byte { return arenaRange{base, size}.append(nil) }
	for name, c := range map[string]struct {
		message func(a *attacker) ([]byte, []int)
		ends    bool
	}{
		"oversized": {func(a *attacker) ([]byte, []int) {
			return place(1<<30, arenaSize+1), []int{a.memfd(1<<20, true)}
		}, false},
		"larger than its memory": {func(a *attacker) ([]byte, []int) {
			return place(1<<30, 1<<30), []int{a.memfd(1<<20, true)}
		}, false},
		"empty":      {func(a *attacker) ([]byte, []int) { return place(1<<30, 0), []int{a.memfd(1<<20, true)} }, false},
		"negative":   {func(a *attacker) ([]byte, []int) { return place(1<<30, 1<<63), []int{a.memfd(1<<20, true)} }, false},
		"unsealed":   {func(a *attacker) ([]byte, []int) { return place(1<<30, 1<<20), []int{a.memfd(1<<20, false)} }, false},
		"told twice": {func(a *attacker) ([]byte, []int) { return place(1<<30, 1<<20), []int{a.memfd(1<<20, true)} }, true},
		"no memory":  {func(a *attacker) ([]byte, []int) { return place(1<<30, 1<<20), nil }, true},
		"two":        {func(a *attacker) ([]byte, []int) { return place(1<<30, 1<<20), a.fds()[:2] }, true},
		"short":      {func(a *attacker) ([]byte, []int) { return place(1, 1)[:8], []int{a.pair.FD()} }, true},
		"long":       {func(*attacker) ([]byte, []int) { return make([]byte, 5000), nil }, true},
		"some bytes": {func(*attacker) ([]byte, []int) { return []byte("hello"), nil }, true},
	} {
		t.Run(name, func(t *testing.T) {
			p, r := target(t)
			a := attack(t, p)
			a.say(a.hello.append(nil), a.fds()...)
			var got []transport.Link
			waitUntil(t, "accepted", func() bool { got = append(got, r.links()...); return len(got) == 1 })
			l := got[0].(*link)
			l.Bind(1)
			b, fds := c.message(a)
			a.say(b, fds...)
			if name == "told twice" {
				a.say(b, fds...)
			}
			if !c.ends {
				time.Sleep(5 * time.Millisecond)
				if l.far.Load() != nil {
					t.Error("the arena was mapped")
				}
				_ = a.conn.Close()
			}
			waitUntil(t, "the link has ended", func() bool { p.Poll(nothing{}); return r.ends() == 1 })
			l.Close()
		})
	}
}

// nothing takes every frame.
type nothing struct{}

func (nothing) Frame(int32, *wire.Header, []byte) bool { return true }
func (nothing) PullFinished(uint64, bool)              {}
func (nothing) Land(int32, *wire.Header) *wire.Vec     { return nil }
func (nothing) Landed(int32, *wire.Header)             {}

// Several links, of which some turn out corrupt in the same poll.
func TestCorruptLinksAmongOthers(t *testing.T) {
	for _, links := range []int{1, 2, 3, 8, 9, 20} {
		p, r := target(t)
		var got []transport.Link
		var attackers []*attacker
		for range links {
			a := attack(t, p)
			a.say(a.hello.append(nil), a.fds()...)
			attackers = append(attackers, a)
		}
		waitUntil(t, "accepted", func() bool { got = append(got, r.links()...); return len(got) == links })
		for i, l := range got {
			l.Bind(int32(i))
		}
		for i, a := range attackers {
			if i%2 == 0 { // an unknown kind, with the stamp of the first generation
				binary.LittleEndian.PutUint64(ringOut(a.pair.Bytes(), true)[64:], 0xff|1<<16)
			}
		}
		corrupt := (links + 1) / 2
		waitUntil(t, "corrupt links are down", func() bool { p.Poll(nothing{}); return r.ends() >= corrupt })
		if n := r.counts[transport.CorruptFrames].Load(); n != uint64(corrupt) || len(p.links) != links-corrupt {
			t.Errorf("%d links: %d corrupt ones counted, %d go on", links, n, len(p.links))
		}
	}
}

// A flood of half-open connections is bounded, and good peers get through.
func TestHalfOpenFlood(t *testing.T) {
	testlength.Long(t)
	p, r := target(t)
	const flood = 200
	var open []*net.UnixConn
	for range flood {
		c, err := net.DialUnix("unixpacket", nil, socketName(p.self))
		if err != nil {
			break // the backlog is full
		}
		open = append(open, c)
	}
	begin := time.Now()
	welcome(t, p, r)
	t.Logf("a good peer got through %d half-open connections in %v", len(open), time.Since(begin))
	for _, c := range open {
		_ = c.Close()
	}
	waitUntil(t, "all are counted", func() bool { return r.refused() >= len(open) })
	welcome(t, p, r)
}
