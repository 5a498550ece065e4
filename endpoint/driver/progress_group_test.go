package driver_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/internal/testlength"
	"gomx/transport/mem"
)

// ringOf is endpoints of which each sends an empty message to the next one for each that it receives, by triggered operations.
type ringOf struct {
	*world
	to       []endpoint.Addr
	received []*driver.Counter
}

// newRing makes a ring of n endpoints that pass on so many messages each.
func newRing(t testing.TB, n, messages int, options ...option) *ringOf {
	w := newWorld(t, mem.Options{})
	r := &ringOf{world: w}
	for range n {
		w.open(options...)
	}
	for i, d := range w.eps {
		r.to = append(r.to, w.connect(d, (i+1)%n))
		c, err := d.NewCounter()
		if err != nil {
			t.Fatal(err)
		}
		r.received = append(r.received, c)
	}
	for i := range n {
		r.passOn(i, messages)
	}
	return r
}

// passOn prepares an endpoint for so many messages.
func (r *ringOf) passOn(i, messages int) {
	r.t.Helper()
	for k := range messages {
		h := r.recv(r.eps[i], 1, nil)
		if err := r.received[i].Add(1, func(int) endpoint.Handle { return h }); err != nil {
			r.t.Fatal(err)
		}
		if _, err := r.received[i].SendAt(uint64(k+1), &endpoint.Outgoing{To: r.to[i], Match: 1}, nil); err != nil {
			r.t.Fatal(err)
		}
	}
}

// has returns how many messages an endpoint has received, without a pass.
func (r *ringOf) has(i int) (n uint64) {
	r.eps[i].Query(func(e *endpoint.Engine) { n, _ = e.Counts(endpoint.QueueID(r.received[i].Number())) })
	return n
}

// come waits until an endpoint has received so many messages, without a call that makes a pass.
func (r *ringOf) come(i int, n uint64) {
	r.t.Helper()
	for begin := time.Now(); r.has(i) < n; time.Sleep(time.Millisecond) {
		if time.Since(begin) > patience {
			r.t.Fatalf("endpoint %d has received %d messages, want %d", i, r.has(i), n)
		}
	}
}

// TestProgressBehindTheCallThatTriggers: what a call triggers goes on although the program makes no other, before the guard is due. The
// program has just made a pass, so that nobody polls at that moment.
func TestProgressBehindTheCallThatTriggers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, rounds = 3, 5
		r := newRing(t, n, rounds, asleep)
		defer r.close()
		begin := time.Now()
		for _, d := range r.eps {
			_ = d.Progress()
		}
		for _, c := range r.received { // a message for each of the others, in whose place none is sent
			if err := c.Increment(1); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		for i := range n {
			if got := r.has(i); got < rounds {
				t.Errorf("endpoint %d has received %d messages, want %d", i, got, rounds)
			}
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("somebody waited for the clock, %v", took)
		}
	})
}

// TestMessagesGoRoundWithoutCalls sends messages round rings of more endpoints than a group takes.
func TestMessagesGoRoundWithoutCalls(t *testing.T) {
	for _, single := range []bool{false, true} {
		for _, n := range []int{1, 2, 5, 20} {
			t.Run(fmt.Sprintf("%d endpoints, single-threaded %v", n, single), func(t *testing.T) {
				const rounds = 200
				r := newRing(t, n, rounds, func(c *driver.Config) { c.SingleThreaded = single })
				defer r.close()
				if err := r.received[0].Increment(1); err != nil {
					t.Fatal(err)
				}
				r.come(n-1, rounds-1)
			})
		}
	}
}

// TestMessagesGoRoundBesideCalls has goroutines that wait, look and post beside a ring.
func TestMessagesGoRoundBesideCalls(t *testing.T) {
	testlength.Long(t)
	const n, rounds, circulating = 6, 300, 3
	r := newRing(t, n, circulating*rounds)
	defer r.close()
	var over atomic.Bool
	var callers sync.WaitGroup
	for i, d := range r.eps {
		callers.Go(func() {
			for k := uint64(0); !over.Load(); k++ {
				h := r.recv(d, 9, nil)
				switch k % 4 {
				case 0:
					_ = d.Progress()
				case 1:
					_, _ = d.Wait(noContext, h, time.Duration(k%5)*100*time.Microsecond, new(endpoint.Status))
				case 2:
					time.Sleep(time.Duration(i) * 100 * time.Microsecond)
				case 3:
					_, _, _ = d.Peek(noContext, 0)
				}
				if _, err := d.Cancel(h); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range circulating {
		if err := r.received[0].Increment(1); err != nil {
			t.Fatal(err)
		}
	}
	r.come(n-1, circulating*(rounds-1))
	over.Store(true)
	callers.Wait()
}

// TestHandlerHoldsUpNoOtherEndpoint has the handler of an endpoint wait until messages have gone round a ring of others. The endpoint
// is in a ring itself, so that a group polls for it.
func TestHandlerHoldsUpNoOtherEndpoint(t *testing.T) {
	const messages = 20_000
	r, besides := newRing(t, 4, messages), newRing(t, 2, messages)
	defer r.close()
	defer besides.close()
	entered, leave := make(chan struct{}), make(chan struct{})
	defer close(leave)
	if err := besides.eps[1].SetHandler(func(m *endpoint.Incoming) endpoint.Action {
		if m.Match == 1 {
			return endpoint.Continue
		}
		entered <- struct{}{}
		<-leave
		return endpoint.Finished
	}); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		for _, ring := range []*ringOf{r, besides} {
			if err := ring.received[0].Increment(1); err != nil {
				t.Fatal(err)
			}
			ring.come(1, min(ring.has(1)+10, messages-1))
		}
		besides.send(besides.eps[0], besides.to[0], 2, nil)
		select {
		case <-entered:
		case <-time.After(patience):
			t.Fatal("the handler is not called")
		}
		r.come(3, min(r.has(3)+100, messages-1))
		leave <- struct{}{}
	}
}

// TestClosingWhileMessagesGoRound closes an endpoint after the other.
func TestClosingWhileMessagesGoRound(t *testing.T) {
	testlength.Long(t)
	for range 20 {
		r := newRing(t, 5, 2000)
		if err := r.received[0].Increment(1); err != nil {
			t.Fatal(err)
		}
		r.come(4, 1)
		inBackground(t, r.close)()
	}
}
