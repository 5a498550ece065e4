//go:build linux

package bell_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gomx/internal/testlength"
	"gomx/transport/bell"
	"gomx/transport/internal/segment"
)

// The tests here talk to a second process: this binary, started with childKey in
// its environment, which answers each message with its number until it is 0.
const childKey = "GOMX_BELL_TEST_CHILD"

func TestMain(m *testing.M) {
	if name := os.Getenv(childKey); name != "" {
		if err := answer(name); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// game is how the two sides play.
type game struct {
	fenced   bool
	pollable bool
	pends    bool // in Go's network poller
	pinned   bool // to a core each
	oneCore  bool // both to the same one
	delays   bool
	computes bool // the side that answers, in another goroutine; who asks polls
}

const layout = "fenced=%t/pollable=%t/pends=%t/pinned=%t/onecore=%t/delays=%t/computes=%t"

func (g game) String() string {
	return fmt.Sprintf(layout, g.fenced, g.pollable, g.pends, g.pinned, g.oneCore, g.delays, g.computes)
}

func parseGame(s string) (g game, err error) {
	_, err = fmt.Sscanf(s, layout, &g.fenced, &g.pollable, &g.pends, &g.pinned, &g.oneCore, &g.delays, &g.computes)
	return g, err
}

// player is one of the two sides: it has a mailbox and may write into the other's.
type player struct {
	game
	bell   *bell.Bell
	peer   *bell.Remote
	in     *uint32
	out    *uint32
	random *rand.Rand
}

// hung is far beyond any scheduling delay; passing it is a lost wake-up.
const hung = 20 * time.Second

// send publishes with a plain store, as rings do.
func (p *player) send(n uint32) {
	if p.delays {
		for range p.random.IntN(600) {
			spin++
		}
	}
	*p.out = n
	p.peer.Ring()
}

var spin int

// receive only ever sleeps, until the mailbox changes.
func (p *player) receive(last uint32) (uint32, error) {
	for {
		if n := atomic.LoadUint32(p.in); n != last {
			return n, nil
		}
		p.bell.Arm(p.pollable)
		if n := atomic.LoadUint32(p.in); n != last {
			p.bell.Disarm()
			return n, nil
		}
		start := time.Now()
		if p.pends {
			p.bell.Pend(hung)
		} else {
			p.bell.Sleep(hung)
		}
		p.bell.Disarm()
		if p.pollable && !p.pends {
			p.bell.Drain()
		}
		if time.Since(start) >= hung {
			return 0, fmt.Errorf("slept %v, mailbox went from %d to %d", hung, last, atomic.LoadUint32(p.in))
		}
	}
}

// meet exchanges the bells over c. The first side makes the mailboxes.
func meet(c *net.UnixConn, g game, cpu int) (*player, error) {
	maker := bell.New
	if g.fenced {
		maker = bell.NewFenced
	}
	b, err := maker()
	if err != nil {
		return nil, err
	}
	boxes, err := segment.Create("mailboxes", 4096)
	if err != nil {
		return nil, err
	}
	page, socket, err := b.Invite()
	if err != nil {
		return nil, err
	}
	if err := segment.SendFDs(c, []byte{0}, page, socket, boxes.FD()); err != nil {
		return nil, err
	}
	_ = unix.Close(socket)
	_, fds, err := segment.RecvFDs(c, make([]byte, 1), 3)
	if err != nil {
		return nil, err
	}
	peer, err := bell.Attach(fds[0], fds[1])
	if err != nil {
		return nil, err
	}
	theirs, err := segment.Map(fds[2], 4096, 4096)
	if err != nil {
		return nil, err
	}
	p := &player{game: g, bell: b, peer: peer, random: rand.New(rand.NewPCG(uint64(cpu), 1))}
	p.in, _ = segment.Word32(boxes.Bytes(), 0)
	p.out, _ = segment.Word32(theirs.Bytes(), 0)
	switch {
	case g.pinned:
		pin(cpu)
	case g.oneCore:
		pin(0)
	}
	return p, nil
}

func pin(cpu int) {
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(cpu)
	_ = unix.SchedSetaffinity(0, &set)
}

func connFrom(fd int) (*net.UnixConn, error) {
	f := os.NewFile(uintptr(fd), "socket")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	return c.(*net.UnixConn), nil
}

func answer(name string) error {
	g, err := parseGame(name)
	if err != nil {
		return err
	}
	c, err := connFrom(3)
	if err != nil {
		return err
	}
	p, err := meet(c, g, 0)
	if err != nil {
		return err
	}
	if g.computes {
		go compute()
	}
	for n := uint32(0); ; {
		if n, err = p.receive(n); err != nil {
			return err
		}
		p.send(n)
		if n == last {
			return nil
		}
	}
}

const last = ^uint32(0)

// play starts the child and sends it rounds messages, each after the answer to
// the one before.
func play(t testing.TB, g game, rounds func(each func())) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := connFrom(fds[0])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	child := exec.Command("/proc/self/exe")
	child.Env = append(os.Environ(), childKey+"="+g.String())
	child.Stderr = os.Stderr
	child.ExtraFiles = []*os.File{os.NewFile(uintptr(fds[1]), "socket")}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	_ = child.ExtraFiles[0].Close()
	defer func() {
		_ = child.Process.Kill() // no effect if it has ended as it should
		_ = child.Wait()
	}()
	p, err := meet(c, g, 1%runtime.NumCPU())
	if err != nil {
		t.Fatal(err)
	}
	defer p.bell.Close()
	defer p.peer.Close()
	n := uint32(0)
	exchange := func(next uint32) {
		p.send(next)
		var got uint32
		if g.computes {
			got = p.await(n)
		} else {
			got, err = p.receive(n)
		}
		if err != nil || got != next {
			t.Fatalf("sent %d, got %d, %v", next, got, err)
		}
		n = next
	}
	rounds(func() { exchange(n + 1) })
	exchange(last)
	if g.pinned || g.oneCore {
		unpin()
	}
}

func unpin() {
	var set unix.CPUSet
	for cpu := range runtime.NumCPU() {
		set.Set(cpu)
	}
	_ = unix.SchedSetaffinity(0, &set)
	runtime.UnlockOSThread()
}

var wakeUps = flag.Int("bell.rounds", 8_000, "rounds of each game of TestNoWakeUpIsLost")

func TestNoWakeUpIsLost(t *testing.T) {
	testlength.Long(t)
	rounds := *wakeUps
	if testing.Short() {
		rounds /= 2
	}
	for _, g := range []game{{delays: true}, {delays: true, pinned: true}, {fenced: true, delays: true}, {pollable: true, delays: true}, {pollable: true, pends: true, delays: true}} {
		t.Run(g.String(), func(t *testing.T) {
			rounds := rounds
			if g.pinned { // where a missing barrier shows, but seldom
				rounds *= 4
			}
			play(t, g, func(each func()) {
				for range rounds {
					each()
				}
			})
		})
	}
}

// One-way times between two processes that only sleep.
func BenchmarkSleepingPingPong(b *testing.B) {
	for _, g := range []game{{pinned: true}, {oneCore: true}, {fenced: true, oneCore: true}, {pollable: true, oneCore: true}, {}, {pollable: true}, {pollable: true, pends: true}} {
		b.Run(g.String(), func(b *testing.B) {
			play(b, g, func(each func()) {
				for range 1000 {
					each()
				}
				b.ResetTimer()
				for range b.N {
					each()
				}
				b.StopTimer()
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2000, "us/half-round")
			})
		})
	}
}

func BenchmarkRingAwake(b *testing.B) {
	own := newBell(b, bell.New)
	fenced := newBell(b, bell.NewFenced)
	for _, c := range []struct {
		name string
		r    *bell.Remote
	}{{"plain", attach(b, own)}, {"fenced", attach(b, fenced)}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.r.Ring()
			}
		})
	}
}

func BenchmarkArmDisarm(b *testing.B) {
	own := newBell(b, bell.New)
	for b.Loop() {
		own.Arm(false)
		own.Disarm()
	}
}
