package mx_test

import (
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gomx/mx"
)

// asleep polls the descriptor, and reports whether the time passed.
func asleep(t testing.TB, fd int, d time.Duration) bool {
	t.Helper()
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, int(d/time.Millisecond))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return n == 0
	}
}

func TestPollFDWakesAnArmedSleeper(t *testing.T) {
	w := newWorld(t, "shm")
	a, b, toB, _ := w.pair()
	fd, err := b.PollFD()
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(50) {
		n := []int{0, 100, 100_000}[i%3]
		w.irecv(b, make([]byte, n), i, exact)
		go func() {
			r, err := a.Isend(make([]byte, n), toB, i, nil)
			if err == nil {
				err = a.Forget(r)
			}
			if err != nil {
				t.Error(err)
			}
		}()
		for deadline := time.Now().Add(bound); ; {
			if st, ok, err := b.TestAny(i, exact); err != nil {
				t.Fatal(err)
			} else if ok {
				if st.Code != mx.StatusSuccess {
					t.Fatal(st.Err())
				}
				break
			}
			armed, err := b.Arm()
			if err != nil {
				t.Fatal(err)
			}
			if armed && asleep(t, fd, bound) || time.Now().After(deadline) {
				t.Fatalf("message %d woke nobody", i)
			}
		}
	}
}

func TestArmRefusesWhenThereIsSomethingToCollect(t *testing.T) {
	w := newWorld(t, "shm")
	a := w.open()
	w.irecv(a, nil, 1, exact)
	w.succeed(a, w.isend(a, nil, a.Addr(), 1))
	if armed, err := a.Arm(); armed || err != nil {
		t.Error(armed, err)
	}
	if _, ok, err := a.TestAny(1, exact); !ok || err != nil {
		t.Error(ok, err)
	}
	fd, err := a.PollFD()
	if err != nil {
		t.Fatal(err)
	}
	if armed, err := a.Arm(); !armed || err != nil {
		t.Fatal(armed, err)
	}
	if !asleep(t, fd, 20*time.Millisecond) {
		t.Error("the descriptor is readable though nothing has come")
	}
}

func TestPollFDNeedsATransportThatHasOne(t *testing.T) {
	w := newWorld(t, "mem")
	ep := w.open()
	_, err := ep.PollFD()
	refused(t, err, mx.ErrNoDriver, ep.String())
}
