//go:build linux

package bell_test

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gomx/transport"
	"gomx/transport/bell"
	"gomx/transport/internal/segment"
)

func newBell(t testing.TB, make func() (*bell.Bell, error)) *bell.Bell {
	t.Helper()
	b, err := make()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func duplicate(t testing.TB, fd int) int {
	t.Helper()
	other, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return other
}

// invite returns what a peer gets, and owns.
func invite(t testing.TB, b *bell.Bell) (page, socket int) {
	t.Helper()
	page, socket, err := b.Invite()
	if err != nil {
		t.Fatal(err)
	}
	return duplicate(t, page), socket
}

func attach(t testing.TB, b *bell.Bell) *bell.Remote {
	t.Helper()
	r, err := bell.Attach(invite(t, b))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func readable(t testing.TB, fd int) bool {
	t.Helper()
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(poll, 0)
	for err == unix.EINTR { // Go interrupts threads of its own
		n, err = unix.Poll(poll, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n == 1
}

// pended is slept for a goroutine that waits in Go's network poller.
func pended(b *bell.Bell, ring func()) {
	b.Arm(true)
	done := make(chan struct{})
	go func() { b.Pend(-1); close(done) }()
	ring()
	<-done
	b.Disarm()
}

// slept arms, rings and returns once the sleeper does: a ring between Arm and
// Sleep is remembered, so nothing has to wait until it really sleeps.
func slept(b *bell.Bell, pollable bool, ring func()) {
	b.Arm(pollable)
	done := make(chan struct{})
	go func() { b.Sleep(-1); close(done) }()
	ring()
	<-done
	b.Disarm()
	b.Drain()
}

func TestEveryRingWakesEveryWay(t *testing.T) {
	makers := map[string]func() (*bell.Bell, error){"plain": bell.New, "fenced": bell.NewFenced}
	for name, make := range makers {
		b := newBell(t, make)
		r := attach(t, b)
		if r.Fenced() != b.Fenced() {
			t.Errorf("%s: fenced is %v here, %v there", name, b.Fenced(), r.Fenced())
		}
		for range 200 {
			for _, pollable := range []bool{false, true} {
				slept(b, pollable, b.Ring)
				slept(b, pollable, r.Ring)
			}
			pended(b, b.Ring)
			pended(b, r.Ring)
		}
		if b.Armed() {
			t.Errorf("%s: word is %#x when awake", name, b.Word())
		}
	}
}

// An owner that has slept leaves it to those who ring to fence, so that it may sleep again without a barrier, until so many have
// rung that it must have polled meanwhile.
func TestWhoHasSleptNeedsNoBarrierToSleepAgain(t *testing.T) {
	ends := map[string]func(b *bell.Bell, r *bell.Remote){
		"rung by a peer":  func(_ *bell.Bell, r *bell.Remote) { r.Ring() },
		"rung by its own": func(b *bell.Bell, _ *bell.Remote) { b.Ring() },
		"disarmed":        func(b *bell.Bell, _ *bell.Remote) { b.Disarm() },
	}
	for name, end := range ends {
		b := newBell(t, bell.New)
		r := attach(t, b)
		for _, pollable := range []bool{false, true} {
			b.Arm(pollable)
			end(b, r)
			if b.Armed() || b.Word() == 0 {
				t.Fatalf("%s: word is %#x", name, b.Word())
			}
			b.Disarm()
			rings := 0
			for ; b.Word() != 0 && rings < 1000; rings++ {
				r.Ring()
			}
			if rings != bell.FencedRings {
				t.Errorf("%s: %d rings had to fence, want %d", name, rings, bell.FencedRings)
			}
			b.Disarm()
			if b.Word() != 0 {
				t.Errorf("%s: word is %#x behind a Disarm of one who was awake", name, b.Word())
			}
		}
	}
}

// The post is emptied before each wait: a full one would take no ring.
func TestPendBehindAFullPost(t *testing.T) {
	b := newBell(t, bell.New)
	r := attach(t, b)
	pended(b, r.Ring)
	for range 3 {
		for range 1000 { // more than a post holds
			r.Knock()
		}
		for range 1100 {
			b.Arm(true)
			b.Pend(time.Microsecond)
			b.Disarm()
		}
		pended(b, r.Ring)
	}
}

func TestSleepReturnsByItself(t *testing.T) {
	b := newBell(t, bell.New)
	b.Sleep(-1) // not armed
	b.Pend(-1)
	for _, pollable := range []bool{false, true} {
		b.Arm(pollable)
		b.Sleep(0)
		b.Sleep(time.Microsecond)
		b.Ring()
		b.Sleep(-1) // has rung
		b.Disarm()
		b.Drain()
	}
	b.Arm(true)
	b.Pend(0)
	b.Pend(time.Microsecond)
	b.Pend(time.Microsecond) // its deadline is another one
	b.Ring()
	b.Pend(-1)
	b.Arm(true)
	b.Ring()
	b.Pend(time.Hour)
}

func TestEventOnlyWhenArmedPollable(t *testing.T) {
	b := newBell(t, bell.New)
	r := attach(t, b)
	fd, err := b.FD()
	if err != nil {
		t.Fatal(err)
	}
	rings := []func(){b.Ring, r.Ring}
	for _, ring := range rings {
		ring()
		b.Arm(false)
		ring()
		b.Disarm()
		if readable(t, fd) {
			t.Fatal("readable although nobody polls")
		}
		b.Arm(true)
		ring()
		if !readable(t, fd) {
			t.Fatal("rung, but not readable")
		}
		b.Disarm()
		b.Drain()
		if readable(t, fd) {
			t.Fatal("still readable after Drain")
		}
	}
}

func TestRingerKilledHalfway(t *testing.T) {
	b := newBell(t, bell.New)
	r := attach(t, b)
	for _, pollable := range []bool{false, true} {
		slept(b, pollable, func() { r.DieRinging(); r.Ring() })
		slept(b, pollable, func() { r.DieRinging(); b.Ring() })
	}
}

func TestOwnRingSurvivesSpoiltPage(t *testing.T) {
	b := newBell(t, bell.New)
	r := attach(t, b)
	for _, w := range []uint32{0, 1, 2, 3, 4, 7, 8, 0xffffffff, 0xfffffff8} {
		for _, pollable := range []bool{false, true} {
			slept(b, pollable, func() { b.Spoil(w); r.Ring(); b.Ring() })
		}
	}
}

func TestCloseWakesAndIsFinal(t *testing.T) {
	for _, pollable := range []bool{false, true} {
		b := newBell(t, bell.New)
		b.Arm(pollable)
		b.Pend(time.Microsecond) // the second one knows the poller when it is closed
		if pollable {
			pended(b, b.Close)
		} else {
			slept(b, pollable, b.Close)
		}
		b.Close()
		b.Arm(pollable)
		b.Sleep(-1)
		b.Pend(-1)
		b.Ring()
		b.Disarm()
		b.Drain()
		if fd, err := b.FD(); fd != -1 || !errors.Is(err, transport.ErrClosed) {
			t.Errorf("FD of a closed bell: %d, %v", fd, err)
		}
	}
}

func TestRemoteOutlivesBellAndClosesTwice(t *testing.T) {
	b := newBell(t, bell.New)
	r := attach(t, b)
	b.Arm(false)
	b.Close()
	r.Ring()
	r.Close()
	r.Close()
	r.Ring()
}

// Everything at once, so that the race detector sees it.
func TestRingersAndCloser(t *testing.T) {
	for range 20 {
		b, err := bell.New()
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for range 500 {
					b.Ring()
				}
			})
		}
		all.Go(func() {
			for range 500 {
				b.Arm(false)
				b.Sleep(time.Millisecond)
				b.Arm(true)
				b.Pend(time.Millisecond)
				b.Disarm()
			}
		})
		all.Go(b.Close)
		all.Wait()
	}
}

func TestAttachRefuses(t *testing.T) {
	b := newBell(t, bell.New)
	blank, err := segment.Create("blank", 4096)
	if err != nil {
		t.Fatal(err)
	}
	defer blank.Close()
	socket := func(family, kind int) int {
		fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Skip("no such socket here: ", err)
		}
		return fd
	}
	other := func(at int, to byte) int { // a letter that says something else
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		page, real := invite(t, b)
		letter := make([]byte, 64)
		n, _, err := unix.Recvfrom(real, letter, 0)
		if err != nil {
			t.Fatal(err)
		}
		letter[at] = to
		if _, err := unix.Write(pair[0], letter[:n]); err != nil {
			t.Fatal(err)
		}
		for _, fd := range []int{page, real, pair[0]} {
			_ = unix.Close(fd)
		}
		return pair[1]
	}
	before := openFDs(t)
	for _, c := range []struct {
		name         string
		page, socket int
		says         string
	}{
		{"not memory", duplicate(t, int(os.Stdin.Fd())), socket(unix.AF_UNIX, unix.SOCK_DGRAM), "sealed"},
		{"no socket", duplicate(t, blank.FD()), duplicate(t, int(os.Stdin.Fd())), "no socket"},
		{"a stream", duplicate(t, blank.FD()), socket(unix.AF_UNIX, unix.SOCK_STREAM), "type 1"},
		{"of the internet", duplicate(t, blank.FD()), socket(unix.AF_INET, unix.SOCK_DGRAM), "family 2"},
		{"no letter", duplicate(t, blank.FD()), socket(unix.AF_UNIX, unix.SOCK_DGRAM), "letter"},
		{"no bell", duplicate(t, blank.FD()), other(0, 1), "magic"},
		{"another version", duplicate(t, blank.FD()), other(4, 1), "version 1"},
	} {
		_, err := bell.Attach(c.page, c.socket)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error is %v, want %q in it", c.name, err, c.says)
		}
	}
	if after := openFDs(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func openFDs(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("needs /proc:", err)
	}
	return len(entries)
}

func TestNoAllocations(t *testing.T) {
	b := newBell(t, bell.New)
	r := attach(t, b)
	b.Arm(true)
	b.Pend(time.Microsecond) // the first one makes what the others need
	for _, pollable := range []bool{false, true} {
		n := testing.AllocsPerRun(100, func() {
			b.Arm(true)
			b.Pend(time.Microsecond)
			r.Ring()
			b.Pend(-1)
			r.Ring()
			b.Ring()
			b.Arm(pollable)
			b.Sleep(time.Microsecond)
			r.Ring()
			b.Sleep(-1)
			b.Disarm()
			b.Drain()
			b.Arm(pollable)
			b.Ring()
			b.Disarm()
			b.Drain()
			b.Yield()
		})
		if n != 0 {
			t.Errorf("pollable %v: %v allocations", pollable, n)
		}
	}
}

// TestSleepThatFails: epoll_wait returns -1 when a signal interrupts it, and that is no number of events.
func TestSleepThatFails(t *testing.T) {
	for _, d := range []time.Duration{time.Microsecond, time.Second, -1} {
		if n := bell.FailingSleep(d); n != 0 {
			t.Errorf("a sleep of %v that fails has %d events", d, n)
		}
	}
}
