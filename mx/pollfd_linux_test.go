package mx_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gomx/internal/testlength"
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

// TestArmOnOneProcessor: Arm returns although the endpoint's own goroutine sleeps in Go's network poller, also while other goroutines wait
// and that goroutine polls for them. With a single processor it ran for seconds, or for ever.
func TestArmOnOneProcessor(t *testing.T) {
	testlength.Long(t)
	over(t, func(w *world) {
		if w.medium == "mem" {
			w.Skip("nothing to poll")
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		for _, waiting := range []int{0, 3} {
			a, b, toB, _ := w.pair()
			q := w.queue(b)
			fds, err := q.PollFDs()
			if err != nil {
				w.Fatal(err)
			}
			end := time.Now().Add(300 * time.Millisecond)
			var others sync.WaitGroup
			for range waiting {
				others.Go(func() {
					for time.Now().Before(end) {
						if _, _, err := b.WaitAny(2*time.Millisecond, 0x100, exact); err != nil {
							w.Error(err)
						}
					}
				})
			}
			others.Go(func() {
				for time.Now().Before(end) {
					w.add(q, w.irecv(b, make([]byte, 1), 1, exact))
					w.succeed(a, w.isend(a, []byte{1}, toB, 1))
					time.Sleep(500 * time.Microsecond)
				}
			})
			within(w, "who arms", func() {
				for dst := make([]mx.Completion, 4); time.Now().Before(end); {
					if armed, err := q.Arm(); err != nil {
						w.Error(err)
					} else if armed {
						asleep(w, fds[0], 20*time.Millisecond)
					}
					if _, err := q.Wait(noContext, dst, 0); err != nil {
						w.Error(err)
					}
				}
			})
			others.Wait()
		}
	})
}

func TestPollFDWakesAnArmedSleeper(t *testing.T) {
	w := newWorld(t, "shm")
	a, b, toB, _ := w.pair()
	var senders sync.WaitGroup
	w.Cleanup(senders.Wait) // before the endpoints are closed
	fd, err := b.PollFD()
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(50) {
		n := []int{0, 100, 100_000}[i%3]
		w.irecv(b, make([]byte, n), i, exact)
		senders.Go(func() {
			r, err := a.Isend(make([]byte, n), toB, i, nil)
			if err == nil {
				err = a.Forget(r)
			}
			if err != nil {
				t.Error(err)
			}
		})
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
	refused(t, err, mx.ErrNoDriver, "poll descriptor (endpoint "+ep.String()+"): mem has no descriptor to poll", "shm or tcp")
	_, err = w.queue(ep).PollFDs()
	refused(t, err, mx.ErrNoDriver, "queue: an endpoint of the queue has no descriptor to poll", "shm or tcp")
}

func TestPollFDsOfAQueue(t *testing.T) {
	w := newWorld(t, "shm")
	from := w.open()
	eps := []*mx.Endpoint{w.open(), w.open()}
	q := w.queue(eps...)
	var senders sync.WaitGroup
	w.Cleanup(senders.Wait) // before the endpoints are closed
	fds, err := q.PollFDs()
	if err != nil || len(fds) != len(eps) {
		t.Fatal(fds, err)
	}
	addrs := []mx.EndpointAddr{w.connect(from, eps[0]), w.connect(from, eps[1])}
	poll := []unix.PollFd{{Fd: int32(fds[0]), Events: unix.POLLIN}, {Fd: int32(fds[1]), Events: unix.POLLIN}}
	dst := make([]mx.Completion, 1)
	for i := range uint64(50) {
		r := w.irecv(eps[i%2], make([]byte, 8), i, exact)
		w.add(q, r)
		senders.Go(func() {
			s, err := from.Isend(make([]byte, 8), addrs[i%2], i, nil)
			if err == nil {
				err = from.Forget(s)
			}
			if err != nil {
				t.Error(err)
			}
		})
		for deadline := time.Now().Add(bound); ; {
			if n, err := q.Wait(noContext, dst, 0); err != nil {
				t.Fatal(err)
			} else if n == 1 {
				break
			}
			armed, err := q.Arm()
			if err != nil {
				t.Fatal(err)
			}
			if armed {
				if _, err := unix.Poll(poll, int(bound/time.Millisecond)); err != nil && !errors.Is(err, unix.EINTR) {
					t.Fatal(err)
				}
			}
			if time.Now().After(deadline) {
				t.Fatalf("message %d has not come", i)
			}
		}
		if dst[0].Request != r {
			t.Fatalf("message %d completes %+v", i, dst[0])
		}
	}
}

// A queue whose endpoints are closed one by one has the descriptors of the others, and they wake.
func TestPollFDsOfAQueueWithAClosedEndpoint(t *testing.T) {
	w := newWorld(t, "shm")
	from, closed, open := w.open(), w.open(), w.open()
	q := w.queue(closed, open)
	to := w.connect(from, open)
	shut(w, closed)
	fds, err := q.PollFDs()
	fd, no := open.PollFD()
	if err != nil || no != nil || len(fds) != 1 || fds[0] != fd {
		t.Fatalf("%v, %v, want %d alone, %v", fds, err, fd, no)
	}
	r := w.irecv(open, nil, 1, exact)
	w.add(q, r)
	if armed, err := q.Arm(); !armed || err != nil {
		t.Fatal(armed, err)
	}
	w.isend(from, nil, to, 1)
	if asleep(t, fd, bound) {
		t.Error("the message woke nobody")
	}
	if c := w.collect(q, 1); c[0].Request != r {
		t.Errorf("%+v", c)
	}
	shut(w, open)
	_, err = q.PollFDs()
	refused(t, err, mx.ErrBadEndpoint, "endpoint is closed")
	_, err = q.Arm()
	refused(t, err, mx.ErrBadEndpoint, "endpoint is closed")
}
