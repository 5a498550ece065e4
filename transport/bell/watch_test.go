//go:build linux

package bell_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gomx/transport/bell"
)

func pipe(t testing.TB) (read, write int) {
	t.Helper()
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fds[0]); _ = unix.Close(fds[1]) })
	return fds[0], fds[1]
}

func TestWatchedDescriptorWakes(t *testing.T) {
	for _, pollable := range []bool{false, true} {
		b := newBell(t, bell.New)
		read, write := pipe(t)
		fd, err := b.FD()
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Watch(read); err != nil {
			t.Fatal(err)
		}
		slept(b, pollable, func() { _, _ = unix.Write(write, []byte{1}) })
		if !readable(t, fd) {
			t.Error("FD is not readable although what is watched is")
		}
		if again, err := b.FD(); again != fd || err != nil {
			t.Errorf("FD: %d, %v, was %d before", again, err, fd)
		}
		var one [1]byte
		_, _ = unix.Read(read, one[:])
		if readable(t, fd) {
			t.Error("FD is still readable")
		}
		slept(b, pollable, b.Ring)
		pended(b, func() { _, _ = unix.Write(write, one[:]) })
		_, _ = unix.Read(read, one[:])
		pended(b, b.Ring)
	}
}

// Watch and FD get in though somebody falls asleep again and again.
func TestWatchAmongSleeps(t *testing.T) {
	b := newBell(t, bell.New)
	read, _ := pipe(t)
	var fds []int
	for range 100 {
		fd := duplicate(t, read)
		defer func() { _ = unix.Close(fd) }()
		fds = append(fds, fd)
	}
	stop := make(chan struct{})
	var sleeper sync.WaitGroup
	sleeper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				b.Arm(false)
				b.Sleep(-1)
				b.Disarm()
			}
		}
	})
	done := make(chan error, 1)
	go func() {
		var err error
		for _, fd := range fds {
			if err == nil {
				err = b.Watch(fd)
			}
			_, _ = b.FD()
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("Watch waits for a sleeper for ever")
	}
	close(stop)
	b.Close()
	sleeper.Wait()
}

// A sleeper for whom nothing rings sleeps, also one that watches a descriptor and has no peers. It may wake now and
// then for nothing.
func TestSleepWithoutPeersLasts(t *testing.T) {
	b := newBell(t, bell.New)
	read, _ := pipe(t)
	if err := b.Watch(read); err != nil {
		t.Fatal(err)
	}
	var sleeps atomic.Int32
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-over:
				return
			default:
			}
			b.Arm(false)
			b.Sleep(-1)
			b.Disarm()
			sleeps.Add(1)
		}
	}()
	time.Sleep(200 * time.Millisecond) // that nothing happens can't be waited for otherwise
	close(over)
	for ended := false; !ended; {
		b.Ring()
		select {
		case <-done:
			ended = true
		case <-time.After(time.Millisecond):
		}
	}
	if n := sleeps.Load(); n > 50 {
		t.Errorf("%d sleeps in a fifth of a second", n)
	}
}
