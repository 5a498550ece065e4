//go:build linux

package bell_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gomx/internal/testlength"
	"gomx/transport/bell"
)

// returns fails the test if f does not.
func returns(t testing.TB, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { f(); close(done) }()
	select {
	case <-done:
	case <-time.After(hung):
		t.Fatalf("%s does not return", what)
	}
}

// blocking makes the description behind a descriptor a blocking one.
func blocking(t testing.TB, fd int) {
	t.Helper()
	if err := unix.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
}

// The bell of a peer that has it take no more rings, and that blocks whoever writes.
func TestRingAtABlockingPeer(t *testing.T) {
	b := newBell(t, bell.New)
	page, socket := invite(t, b)
	kept := duplicate(t, socket)
	defer func() { _ = unix.Close(kept) }()
	r, err := bell.Attach(page, socket)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	blocking(t, kept)
	returns(t, "a ring", func() {
		for range 10_000 { // more than any queue holds
			b.Arm(true)
			r.Ring()
		}
	})
}

// A peer does to what it was given whatever it can. The rings of another arrive.
func TestPeerSilencesOnlyItself(t *testing.T) {
	b := newBell(t, bell.New)
	good := attach(t, b)
	for what, spoil := range map[string]func(socket int, r *bell.Remote){
		"blocks":  func(socket int, _ *bell.Remote) { blocking(t, socket) },
		"ends it": func(socket int, _ *bell.Remote) { _ = unix.Shutdown(socket, unix.SHUT_RDWR) },
		"reads":   func(socket int, _ *bell.Remote) { _, _, _ = unix.Recvfrom(socket, make([]byte, 64), unix.MSG_DONTWAIT) },
		"floods": func(_ int, r *bell.Remote) {
			for range 10_000 {
				r.Knock()
			}
		},
		"knocks and blocks": func(socket int, r *bell.Remote) { blocking(t, socket); r.Knock() },
	} {
		page, socket := invite(t, b)
		kept := duplicate(t, socket)
		bad, err := bell.Attach(page, socket)
		if err != nil {
			t.Fatal(err)
		}
		for _, ring := range []func(){good.Ring, b.Ring} {
			returns(t, "after a peer that "+what+": Sleep", func() { slept(b, true, func() { spoil(kept, bad); ring() }) })
			returns(t, "after a peer that "+what+": Pend", func() { pended(b, func() { spoil(kept, bad); ring() }) })
		}
		returns(t, "Drain", func() { b.Drain(); b.Drain() })
		_ = unix.Close(kept)
		bad.Close()
	}
}

// A peer that writes 0 into the word while its owner sleeps keeps all others from
// ringing. The owner looks for itself before long, in whichever way it sleeps.
func TestNoSleepIsWithoutABound(t *testing.T) {
	testlength.Long(t)
	b := newBell(t, bell.New)
	attach(t, b)
	silence := func() {}
	returns(t, "Sleep on the futex", func() { slept(b, false, silence) })
	returns(t, "Sleep on descriptors", func() { slept(b, true, silence) })
	returns(t, "Pend", func() { pended(b, silence) })
	fd, err := b.FD()
	if err != nil {
		t.Fatal(err)
	}
	b.Arm(true)
	silence()
	n, err := 0, error(unix.EINTR)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(hung/time.Millisecond))
	}
	if n != 1 {
		t.Errorf("FD is not readable: %v", err)
	}
	b.Drain()
	if readable(t, fd) {
		t.Error("FD is readable after Drain")
	}
}

// The name of the socket behind a bell is there for all to see.
func TestStrangersWakeNobody(t *testing.T) {
	b := newBell(t, bell.New)
	fd, err := b.FD()
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(stranger) }()
	for _, message := range []string{"", "short", "12345678", "a longer message"} {
		if err := unix.Sendto(stranger, []byte(message), unix.MSG_DONTWAIT, b.Name()); err != nil {
			t.Fatal(err)
		}
		if readable(t, fd) {
			t.Fatalf("%q of a stranger wakes", message)
		}
	}
	slept(b, true, attach(t, b).Ring)
}

// Descriptors that a peer sends instead of ringing are closed.
func TestUnwantedDescriptorsAreClosed(t *testing.T) {
	b := newBell(t, bell.New)
	page, socket := invite(t, b)
	kept := duplicate(t, socket)
	defer func() { _ = unix.Close(kept) }()
	r, err := bell.Attach(page, socket)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before := openFDs(t)
	for range 20 {
		b.Arm(true)
		if err := unix.Sendmsg(kept, r.Secret(), unix.UnixRights(0, 0, 0), nil, unix.MSG_DONTWAIT); err != nil {
			t.Fatal(err)
		}
		b.Pend(-1)
		b.Disarm()
	}
	for end := time.Now().Add(hung); openFDs(t) > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d descriptors before, %d after", before, openFDs(t))
		}
	}
}

// Close, while others ask for the descriptor and one sleeps.
func TestFDBesideClose(t *testing.T) {
	for range 200 {
		b, err := bell.New()
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 20 {
					_, _ = b.FD()
					b.Drain()
				}
			})
		}
		all.Go(func() {
			for range 20 {
				b.Arm(true)
			}
		})
		all.Go(b.Close)
		all.Wait()
	}
}

func TestNothingOfABellIsLeft(t *testing.T) {
	round := func() {
		b, err := bell.New()
		if err != nil {
			t.Fatal(err)
		}
		var peers []*bell.Remote
		for range 5 {
			r, err := bell.Attach(invite(t, b))
			if err != nil {
				t.Fatal(err)
			}
			peers = append(peers, r)
		}
		if _, err := b.FD(); err != nil {
			t.Fatal(err)
		}
		pended(b, peers[0].Ring)
		b.Close()
		for _, r := range peers {
			r.Close()
		}
	}
	round() // Go's network poller has descriptors of its own
	before := openFDs(t)
	for range 20 {
		round()
	}
	if after := openFDs(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// Without the memory that processes share, a bell works within its own.
func TestLonelyBell(t *testing.T) {
	b := newBell(t, bell.NewLonely)
	if b.Lonely() == nil {
		t.Error("no reason why it is lonely")
	}
	if _, _, err := b.Invite(); err == nil {
		t.Error("it has invited a peer")
	}
	for _, pollable := range []bool{false, true} {
		slept(b, pollable, b.Ring)
	}
	pended(b, b.Ring)
	read, write := pipe(t)
	if err := b.Watch(read); err != nil {
		t.Fatal(err)
	}
	slept(b, false, func() { _, _ = unix.Write(write, []byte{1}) })
}
