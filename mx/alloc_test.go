package mx_test

import (
	"strings"
	"testing"

	"gomx/internal/testlength"
	"gomx/mx"
)

// exchange is what is measured: one message with everything around it.
type exchange struct {
	a, b     *mx.Endpoint
	toB, toA mx.EndpointAddr
	out, in  []byte
	reqs     []mx.Request
	waiter   *mx.Waiter
	counter  *mx.CompletionCounter // of b
	sends    *mx.CompletionCounter // of a
	counted  uint64                // by each
	queue    *mx.Queue             // over both
	got      []mx.Completion
	failures int
}

func (x *exchange) check(st mx.Status, ok bool, err error) {
	if !ok || err != nil || st.Code != mx.StatusSuccess {
		x.failures++
	}
}

func (x *exchange) must(r mx.Request, err error) mx.Request {
	if err != nil {
		x.failures++
	}
	return r
}

func first(successes, _ uint64, _ error) uint64 { return successes }

// heals reports whether the medium keeps what it sends until it is acknowledged.
func (w *world) heals() bool { return w.medium == "tcp" || w.medium == "rdma" }

// times is how often something is done that, over media which heal, waits for the
// background goroutine of the other side.
func (w *world) times(n int) int {
	if w.heals() {
		return n / 10
	}
	return n
}

// rounds is how often something is done so that what grows has grown: a medium
// that heals keeps copies of small messages until enough are to be acknowledged.
func (w *world) rounds(kind string, n int) int {
	if w.heals() && strings.HasPrefix(kind, "eager") {
		return 50 * n
	}
	return n
}

// allocations is how many objects one run of f allocates, at most n runs of it.
// The runtime counts those of the whole process, in which a goroutine of an
// endpoint that an earlier test has left may be dialling, so the least of some
// counts is taken: what the path itself allocates is in each of them.
func (w *world) allocations(n int, f func()) float64 {
	least := testing.AllocsPerRun(w.times(n), f)
	for tries := 0; least != 0 && tries < 20; tries++ {
		least = min(least, testing.AllocsPerRun(w.times(n), f))
	}
	return least
}

// exchanges are the paths that must not allocate.
var exchanges = map[string]func(x *exchange){
	"expected": func(x *exchange) {
		recv := x.must(x.b.Irecv(x.in, 1, exact, nil))
		send := x.must(x.a.Isend(x.out, x.toB, 1, nil))
		x.check(x.b.Wait(recv, bound))
		x.check(x.a.Wait(send, bound))
	},
	"finish": func(x *exchange) {
		recv := x.must(x.b.Irecv(x.in, 1, exact, nil))
		send := x.must(x.a.Isend(x.out, x.toB, 1, nil))
		x.must(recv, x.b.Finish(recv, bound))
		x.must(send, x.a.Finish(send, bound))
	},
	"synchronous": func(x *exchange) {
		recv := x.must(x.b.Irecv(x.in, 1, exact, nil))
		send := x.must(x.a.Issend(x.out, x.toB, 1, nil))
		x.check(x.b.Wait(recv, bound))
		x.check(x.a.Wait(send, bound))
	},
	"unexpected": func(x *exchange) {
		send := x.must(x.a.Isend(x.out, x.toB, 1, nil))
		x.check(x.b.Probe(bound, 1, exact))
		recv := x.must(x.b.Irecv(x.in, 1, exact, nil))
		x.check(x.b.Wait(recv, bound))
		x.check(x.a.Wait(send, bound))
	},
	"test": func(x *exchange) {
		recv := x.must(x.b.Irecv(x.in, 1, exact, nil))
		send := x.must(x.a.Isend(x.out, x.toB, 1, nil))
		for i := 0; ; i++ {
			if st, ok, err := x.b.Test(recv); ok || err != nil || i > 1e8 {
				x.check(st, ok, err)
				break
			}
		}
		for i := 0; ; i++ {
			if st, ok, err := x.a.Test(send); ok || err != nil || i > 1e8 {
				x.check(st, ok, err)
				break
			}
		}
	},
	"wait any": func(x *exchange) {
		x.must(x.b.Irecv(x.in, 1, 0xff, nil))
		x.must(x.a.Isend(x.out, x.toB, 0x101, nil))
		x.check(x.b.WaitAny(bound, 0x101, exact))
		x.check(x.a.WaitAny(bound, 0, everything))
	},
	"iprobe and peek": func(x *exchange) {
		send := x.must(x.a.Isend(x.out, x.toB, 1, nil))
		for i := 0; i < 1e8; i++ {
			if _, ok, err := x.b.Iprobe(1, exact); ok || err != nil {
				break
			}
		}
		recv := x.must(x.b.Irecv(x.in, 1, exact, nil))
		if _, ok, err := x.b.Peek(bound); !ok || err != nil {
			x.failures++
		}
		x.check(x.b.Wait(recv, bound))
		x.check(x.a.Wait(send, bound))
	},
	"self": func(x *exchange) {
		recv := x.must(x.a.Irecv(x.in, 1, exact, nil))
		send := x.must(x.a.Isend(x.out, x.a.Addr(), 1, nil))
		x.check(x.a.Wait(recv, bound))
		x.check(x.a.Wait(send, bound))
	},
	"wake and watch": func(x *exchange) {
		w := x.waiter
		w.Wake()
		if ok, err := w.Wait(bound); !ok || err != nil {
			x.failures++
		}
		watch := x.must(x.a.Watch(x.toB, 7, nil))
		if ok, err := x.a.Cancel(watch); !ok || err != nil {
			x.failures++
		}
	},
	"send now": func(x *exchange) {
		recv := x.must(x.b.Irecv(x.in, 1, exact, nil))
		if !x.a.SendNow(x.out, x.toB, 1) {
			x.check(x.a.Wait(x.must(x.a.Isend(x.out, x.toB, 1, nil)), bound))
		}
		x.check(x.b.Wait(recv, bound))
	},
	"from a peer": func(x *exchange) {
		recv := x.must(x.b.IrecvFrom(x.in, x.toA, 1, exact, nil))
		send := x.must(x.a.Isend(x.out, x.toB, 1, nil))
		x.check(x.b.Wait(recv, bound))
		x.check(x.a.Wait(send, bound))
	},
	"claim": func(x *exchange) {
		send := x.must(x.a.Isend(x.out, x.toB, 1, nil))
		m, st, ok, err := x.b.Claim(noContext, bound, 1, exact)
		x.check(st, ok, err)
		x.check(x.b.Wait(x.must(x.b.IrecvMessage(x.in, m, nil)), bound))
		x.check(x.a.Wait(send, bound))
	},
	"receive now": func(x *exchange) {
		send := x.must(x.a.Isend(x.out, x.toB, 1, nil))
		if _, r, err := x.b.RecvNow(x.in, x.toA, 1, exact); err != nil {
			x.failures++
		} else if !r.IsZero() {
			x.check(x.b.Wait(r, bound))
		}
		x.check(x.a.Wait(send, bound))
	},
	"wait first": func(x *exchange) {
		x.reqs = append(x.reqs[:0], mx.Request{}, x.must(x.b.Irecv(x.in, 2, exact, nil)), x.must(x.b.Irecv(x.in, 1, exact, nil)))
		send := x.must(x.a.Isend(x.out, x.toB, 1, nil))
		if i, ok, err := x.b.WaitFirst(noContext, x.reqs, bound); i != 2 || !ok || err != nil {
			x.failures++
		}
		x.check(x.b.Test(x.reqs[2]))
		if ok, err := x.b.Cancel(x.reqs[1]); !ok || err != nil {
			x.failures++
		}
		x.check(x.a.Wait(send, bound))
	},
	"queue over both": func(x *exchange) {
		x.must(mx.Request{}, x.queue.Add(x.must(x.b.Irecv(x.in, 1, exact, nil)), x.must(x.a.Isend(x.out, x.toB, 1, nil))))
		for left := 2; left > 0; {
			n, err := x.queue.Wait(noContext, x.got[:left], bound)
			if n == 0 || err != nil {
				x.failures++
				return
			}
			left -= n
		}
	},
	"counter": func(x *exchange) {
		x.must(mx.Request{}, x.counter.Add(x.must(x.b.Irecv(x.in, 1, exact, nil))))
		send := x.must(x.a.Isend(x.out, x.toB, 1, nil))
		if x.counted++; x.counted != first(x.counter.Wait(noContext, x.counted, bound)) {
			x.failures++
		}
		x.check(x.a.Wait(send, bound))
	},
	"counted": func(x *exchange) {
		x.must(mx.Request{}, x.counter.Irecv(x.in, 1, exact))
		x.must(mx.Request{}, x.sends.Isend(x.out, x.toB, 1))
		if x.counted++; x.counted != first(x.counter.Wait(noContext, x.counted, bound)) || x.counted != first(x.sends.Wait(noContext, x.counted, bound)) {
			x.failures++
		}
	},
	"acknowledged": func(x *exchange) {
		recv := x.must(x.b.Irecv(x.in, 1, exact, nil))
		send := x.must(x.a.IsendAcked(x.out, x.toB, 1, nil))
		x.check(x.b.Wait(recv, bound))
		x.check(x.a.Wait(send, bound))
	},
	"triggered": func(x *exchange) {
		x.counted++
		x.must(mx.Request{}, x.counter.Add(x.must(x.b.Irecv(x.in, 1, exact, nil))))
		back := x.must(x.counter.At(x.counted).Isend(x.in, x.toA, 2, nil))
		send := x.must(x.a.Isend(x.out, x.toB, 1, nil))
		recv := x.must(x.a.Irecv(x.out, 2, exact, nil)) // what comes back has been sent before
		x.check(x.a.Wait(recv, bound))
		x.check(x.a.Wait(send, bound))
		x.check(x.b.Wait(back, bound))
	},
	"cancel": func(x *exchange) {
		recv := x.must(x.b.Irecv(x.in, 1, exact, nil))
		if ok, err := x.b.Cancel(recv); !ok || err != nil {
			x.failures++
		}
	},
}

func TestNoAllocations(t *testing.T) {
	testlength.Long(t)
	if raceDetector {
		t.Skip("the race detector allocates by itself")
	}
	const large = 100_000
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		arena := alloc(w, large)
		defer func() {
			if err := mx.Free(arena); err != nil {
				w.Error(err)
			}
		}()
		buffers := map[string][]byte{
			"eager 8 B": make([]byte, 8), "eager 4 KiB": make([]byte, 4096),
			"rendezvous": make([]byte, large), "rendezvous out of Alloc": arena,
		}
		for kind, out := range buffers { // what the links keep grows once, whatever the exchange
			for _, x := range []*exchange{{a: a, b: b, toB: toB}, {a: b, b: a, toB: toA}} { // one after the other: what comes back acknowledges
				x.out, x.in = out, make([]byte, len(out))
				for range w.rounds(kind, 20) {
					exchanges["expected"](x)
				}
				if x.failures != 0 {
					w.Fatalf("%s to %v: %d failures", kind, x.toB, x.failures)
				}
			}
		}
		queue := w.queue(a, b)
		for name, run := range exchanges {
			for kind, out := range buffers {
				x := &exchange{
					a: a, b: b, toB: toB, toA: toA, out: out, in: make([]byte, len(out)),
					waiter: a.NewWaiter(), counter: w.counter(b), sends: w.counter(a), queue: queue, got: make([]mx.Completion, 2),
				}
				for range max(5, w.times(10)) { // slabs and scratch grow once
					run(x)
				}
				n := w.allocations(25, func() { run(x) })
				if n != 0 || x.failures != 0 {
					w.Errorf("%s, %s: %v allocations a message, %d failures", name, kind, n, x.failures)
				}
			}
		}
	})
}

func TestNoAllocationsForSegmentLists(t *testing.T) {
	testlength.Long(t)
	if raceDetector {
		t.Skip("the race detector allocates by itself")
	}
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for kind, size := range map[string]int{"eager": 300, "rendezvous": 100_000} {
			x := &exchange{a: a, b: b, toB: toB}
			out, in := cut(make([]byte, size), 5), cut(make([]byte, size), 3)
			run := func() {
				recv := x.must(b.Irecvv(in, 1, exact, nil))
				send := x.must(a.Isendv(out, toB, 1, nil))
				x.check(b.Wait(recv, bound))
				x.check(a.Wait(send, bound))
			}
			for range w.rounds(kind, 20) {
				run()
			}
			if n := w.allocations(200, run); n != 0 || x.failures != 0 {
				w.Errorf("%d bytes: %v allocations a message, %d failures", size, n, x.failures)
			}
		}
	})
}
