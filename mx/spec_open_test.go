package mx_test

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mx"
)

func TestIII31TakenIDIsBusyAndNothingLeaks(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		for range 50 {
			ep, err := w.tryOpen(a.ID())
			refused(w, err, mx.ErrBusy, "open endpoint", fmt.Sprint(a.ID()))
			if ep != nil {
				w.Fatal("an endpoint came with the error")
			}
		}
		b := w.open()
		if b.ID() == a.ID() {
			w.Error("the same id twice")
		}
		toA := w.connect(b, a)
		recv := w.irecv(a, make([]byte, 4), 1, exact)
		w.succeed(b, w.isend(b, pattern(4, 0), toA, 1))
		w.succeed(a, recv)
	})
}

// An id is one endpoint's, whatever transports it and others have: each transport knows its own users only.
func TestIII31IDIsTakenWhateverTheTransports(t *testing.T) {
	initialize(t)
	for _, names := range [][2]string{{"self", "self"}, {"self", "mem"}, {"mem", "self"}, {"mem", "shm"}, {"shm", "tcp"}, {"tcp", "mem"}} {
		t.Run(names[0]+" and "+names[1], func(t *testing.T) {
			for _, name := range names {
				skipWithout(t, name)
			}
			first, second := &world{t, names[0]}, &world{t, names[1]}
			a := first.openWhereFree(second)
			if b := second.open(); b.ID() == a.ID() {
				t.Errorf("both are %v", a)
			}
			_, err := second.tryOpen(a.ID())
			refused(t, err, mx.ErrBusy, "open endpoint", fmt.Sprint(a.ID()))
			shut(t, a)
			if _, err := second.tryOpen(a.ID()); err != nil {
				t.Errorf("the id of a closed endpoint: %v", err)
			}
			refused(t, a.Close(), mx.ErrBadEndpoint)
			_, err = first.tryOpen(a.ID())
			refused(t, err, mx.ErrBusy, "open endpoint", fmt.Sprint(a.ID()))
		})
	}
}

// openWhereFree opens an endpoint whose id other programs have neither over its transport nor over another, nor take before it is opened again.
func (w *world) openWhereFree(other *world) *mx.Endpoint {
	w.Helper()
	for range 100 {
		id := uncommon()
		if b, err := other.tryOpen(id); err == nil {
			shut(w, b)
			if a, err := w.tryOpen(id); err == nil {
				return a
			}
		}
	}
	w.Fatal("no id is free")
	return nil
}

// An id that could not be opened can be tried again.
func TestIII31IDOfAFailedOpenIsFree(t *testing.T) {
	w := newWorld(t, "tcp")
	a := w.openWhereFree(w)
	id := a.ID()
	shut(w, a)
	if _, err := w.tryOpen(id, mx.WithTransports("rdma")); err == nil {
		t.Skip("needs a machine without an RDMA device, and this one has one")
	}
	if _, err := w.tryOpen(id); err != nil {
		t.Error(err)
	}
}

func TestIII31EndpointIDsAreNotCutToABoundary(t *testing.T) {
	over(t, func(w *world) {
		zero, err := w.tryOpen(0)
		if err != nil {
			w.Skipf("endpoint 0 is in use on this machine: %v", err)
		}
		for _, id := range []uint32{256, 512, mx.MaxEndpoints - 1} {
			ep, err := w.tryOpen(id)
			if err != nil {
				w.Fatal(err)
			}
			if ep.ID() != id || ep.String() == zero.String() {
				w.Errorf("endpoint %v for id %d", ep, id)
			}
		}
	})
}

func TestIII31IDOutOfRange(t *testing.T) {
	over(t, func(w *world) {
		for _, id := range []uint32{mx.MaxEndpoints, 1 << 16, 1 << 31, mx.AnyEndpoint - 1} {
			_, err := w.tryOpen(id)
			refused(w, err, mx.ErrBadEndpointID, "open endpoint", fmt.Sprint(id))
		}
	})
}

func TestIII31UnknownBoard(t *testing.T) {
	initialize(t)
	for _, board := range []uint32{32, 255, 256, 300, mx.AnyNIC - 1} {
		_, err := mx.OpenEndpoint(board, mx.AnyEndpoint, 0)
		refused(t, err, mx.ErrBoardUnknown, "open endpoint", fmt.Sprint(board))
	}
}

func TestIII31AnyBoardAndAnyID(t *testing.T) {
	over(t, func(w *world) {
		ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 0, mx.WithTransports(w.medium))
		if err != nil {
			w.Fatal(err)
		}
		defer shut(w, ep)
		nic, id := place(w, ep)
		want, err := mx.BoardNumberToNICID(ep.Board())
		if err != nil || nic != want || id != ep.ID() || id >= mx.MaxEndpoints {
			w.Errorf("endpoint %d at %#x, want %#x, %v", id, nic, want, err)
		}
	})
}

func TestIII31SameIDOnAnotherBoard(t *testing.T) {
	over(t, func(w *world) {
		boards, err := mx.Boards()
		if err != nil {
			w.Fatal(err)
		}
		if len(boards) < 2 {
			w.Skip("this machine has one board")
		}
		a := w.open()
		b, err := mx.OpenEndpoint(1, a.ID(), testFilter, mx.WithTransports(w.medium))
		if err != nil {
			w.Fatal(err)
		}
		defer shut(w, b)
		toB := w.connect(a, b)
		recv := w.irecv(b, make([]byte, 4), 1, exact)
		w.succeed(a, w.isend(a, pattern(4, 0), toB, 1))
		if st := w.succeed(b, recv); st.XferLength != 4 {
			w.Errorf("%+v", st)
		}
	})
}

func TestIII31BadParameters(t *testing.T) {
	over(t, func(w *world) {
		bad := []struct {
			param mx.Param
			parts []string // of the error: the parameter with its value, and what it must be
		}{
			{mx.WithErrorHandler(nil), []string{"WithErrorHandler(", "want a handler"}},
			{mx.WithUnexpQueueMax(0), []string{"WithUnexpQueueMax(0)", "from 1 to 137438953472"}},
			{mx.WithUnexpQueueMax(-5), []string{"WithUnexpQueueMax(-5)", "from 1 to"}},
			{mx.WithUnexpHeaders(0), []string{"WithUnexpHeaders(0)", "from 1 to 1073741824"}},
			{mx.WithUnexpReserve(0), []string{"WithUnexpReserve(0)", "from 1 to 2147483648"}},
			{mx.WithStrangers(0), []string{"WithStrangers(0)", "from 1 to 1048576"}},
			{mx.WithPiecesBytes(0), []string{"WithPiecesBytes(0)", "from 1 to"}},
			{mx.WithCopyLimit(-2), []string{"WithCopyLimit(-2)", "from -1 to 4294967295"}},
			{mx.WithEagerLimit(-2), []string{"WithEagerLimit(-2)", "from -1 to 4294967295"}},
			{mx.WithContextID(17, 0), []string{"WithContextID([17 0])", "at most 16 bits"}},
			{mx.WithContextID(16, 49), []string{"WithContextID([16 49])", "at most 16 bits"}},
			{mx.WithTransports("shn"), []string{"WithTransports([shn])", "self, mem, shm, rdma, tcp"}},
			{mx.WithTransports(w.medium, w.medium), []string{"WithTransports(", "twice"}},
			{mx.WithTransports(), []string{"WithTransports([])", "self, mem, shm, rdma, tcp"}},
			{mx.WithSpin(-1), []string{"WithSpin(-1ns)", "not negative"}},
			{mx.WithRequestTimeout(0), []string{"WithRequestTimeout(0s)", "at least 1ms"}},
			{mx.WithRequestTimeout(time.Millisecond - 1), []string{"WithRequestTimeout(999.999µs)", "at least 1ms"}},
			{mx.WithKeepAlive(time.Second), []string{"WithKeepAlive(1s)", "from 3s to 1h"}},
			{mx.WithConnectTimeout(0), []string{"WithConnectTimeout(0s)", "above 0"}},
			{mx.Param{Key: mx.ParamCopyLimit, Value: "long"}, []string{"WithCopyLimit(long)", "int"}},
			{mx.Param{Key: mx.ParamSecret, Value: "hidden"}, []string{"WithSecret(a string)", "[]uint8"}},
			{mx.Param{Key: mx.ParamSingleThreaded}, []string{"SingleThreaded(", "bool"}},
		}
		for _, b := range bad {
			_, err := w.tryOpen(mx.AnyEndpoint, b.param)
			refused(w, err, mx.ErrBadParamVal, append(b.parts, "mx: open endpoint: parameter value out of range: ")...)
			if err != nil && strings.Count(err.Error(), "out of range") != 1 {
				w.Errorf("%v says it twice", err)
			}
		}
		_, err := w.tryOpen(mx.AnyEndpoint, mx.Param{Key: 99, Value: 1})
		refused(w, err, mx.ErrBadParamName, "open endpoint", "99")
	})
}

// power is a power of two, where an int has room for it.
func power(of int) int { return 1 << of }

// What is beyond these bounds can't be kept: messages have numbers of 31 bits, and credit travels in 32.
func TestIII31NumbersThatAreTooLarge(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("needs ints of 64 bits, and those of this machine have fewer")
	}
	w := newWorld(t, "mem")
	for _, p := range []mx.Param{
		mx.WithUnexpQueueMax(power(37) + 1), mx.WithUnexpHeaders(power(30) + 1), mx.WithUnexpHeaders(power(40)), mx.WithUnexpReserve(power(31) + 1),
		mx.WithStrangers(power(20) + 1), mx.WithPiecesBytes(power(37) + 1), mx.WithEagerLimit(power(32)), mx.WithCopyLimit(power(32)),
	} {
		_, err := w.tryOpen(mx.AnyEndpoint, p)
		refused(t, err, mx.ErrBadParamVal, p.Key.String())
	}
}

// Messages arrive whichever end of their ranges the bounds are at.
func TestIII31ParametersAtTheEndsOfTheirRanges(t *testing.T) {
	testlength.Long(t)
	ends := map[string][]mx.Param{
		"least": {mx.WithUnexpQueueMax(1), mx.WithUnexpHeaders(1), mx.WithUnexpReserve(1), mx.WithStrangers(1), mx.WithPiecesBytes(1), mx.WithEagerLimit(-1), mx.WithCopyLimit(-1)},
	}
	if math.MaxInt > math.MaxInt32 {
		ends["most"] = []mx.Param{mx.WithUnexpQueueMax(power(37)), mx.WithUnexpHeaders(power(30)), mx.WithUnexpReserve(power(31)),
			mx.WithStrangers(power(20)), mx.WithPiecesBytes(power(37)), mx.WithEagerLimit(power(32) - 1), mx.WithCopyLimit(power(32) - 1)}
	}
	for name, params := range ends {
		t.Run(name, func(t *testing.T) {
			over(t, func(w *world) {
				a, b, toB, _ := w.pair(params...)
				const n = 100
				size := func(i int) int { return []int{0, 100, 1000, 3000, 100_000}[i%5] }
				var sends []mx.Request
				for i := range n {
					sends = append(sends, w.isend(a, pattern(size(i), byte(i)), toB, uint64(i)))
				}
				for i, send := range sends {
					got := make([]byte, size(i))
					w.succeed(b, w.irecv(b, got, uint64(i), exact))
					w.succeed(a, send)
					if string(got) != string(pattern(size(i), byte(i))) {
						w.Fatalf("message %d arrived changed", i)
					}
				}
			})
		})
	}
}

func TestIII31SessionsDifferBetweenIncarnations(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		first, id := a.Addr().Session(), a.ID()
		shut(w, a)
		b, err := w.tryOpen(id)
		if err != nil {
			w.Fatal(err)
		}
		if b.Addr().Session() == first {
			w.Error("the same session twice")
		}
	})
}

func TestIII32CloseReleasesPendingRequestsSilently(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for i := range 100 {
			w.irecv(a, make([]byte, 10), uint64(i), exact)
			w.issend(a, pattern(10, 0), toB, uint64(i))
			w.isend(a, pattern(100_000, 0), toB, uint64(i))
		}
		within(w, "close", func() { shut(w, a) })
		if _, found, err := b.Ipeek(); found || err != nil {
			w.Errorf("the peer has a completion: %v", err)
		}
	})
}

func TestIII32CloseTwice(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		shut(w, a)
		refused(w, a.Close(), mx.ErrBadEndpoint, "close endpoint", a.String())
	})
}

func TestIII32IDIsFreeAfterClose(t *testing.T) {
	over(t, func(w *world) {
		id := uncommon()
		for range 20 {
			a, err := w.tryOpen(id)
			if err != nil {
				w.Fatal(err)
			}
			shut(w, a)
		}
	})
}

func TestIII32CompletedSendsReachThePeerBeforeClose(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		const n = 200
		for i := range n {
			w.succeed(a, w.isend(a, pattern(100, byte(i)), toB, uint64(i)))
		}
		shut(w, a)
		for i := range n {
			got := make([]byte, 100)
			w.succeed(b, w.irecv(b, got, uint64(i), exact))
			if string(got) != string(pattern(100, byte(i))) {
				w.Fatalf("message %d arrived changed", i)
			}
		}
	})
}

func TestIII32CloseInsideTheHandlerIsRefused(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		win := openWindow(w, b, make([]byte, 8), mx.WindowRead)
		closed := make(chan error, 2)
		closes := func() {
			closed <- b.Close()
			closed <- win.Close()
		}
		check := func(handler string) {
			w.Helper()
			for _, op := range []string{"close endpoint", "close window"} {
				refused(w, receive(w, handler, closed), mx.ErrCloseInHandler, op, b.String(), "inside a handler")
			}
		}
		if err := b.RegisterUnexpHandler(func(any, mx.EndpointAddr, uint64, uint32, []byte) mx.UnexpAction {
			closes()
			return mx.RecvContinue
		}, nil); err != nil {
			w.Fatal(err)
		}
		w.sendUnexpected(a, b, pattern(4, 0), toB, 1)
		check("the unexpected handler")
		w.succeed(b, w.irecv(b, make([]byte, 4), 1, exact))

		q := w.queue(b)
		if err := q.Handle(func([]mx.Completion) { closes() }); err != nil {
			w.Fatal(err)
		}
		if err := q.Add(w.irecv(b, make([]byte, 4), 2, exact)); err != nil {
			w.Fatal(err)
		}
		w.succeed(a, w.isend(a, pattern(4, 0), toB, 2))
		check("the handler of a queue")
	})
}

// blocked are the calls that Wakeup and Close end; each blocks on an endpoint
// where nothing happens.
func blocked(w *world, ep *mx.Endpoint) map[string]func() (bool, error) {
	r := w.irecv(ep, make([]byte, 1), 0xdead, exact)
	return map[string]func() (bool, error){
		"Wait":    func() (bool, error) { _, ok, err := ep.Wait(r, mx.Infinite); return ok, err },
		"Peek":    func() (bool, error) { _, ok, err := ep.Peek(mx.Infinite); return ok, err },
		"WaitAny": func() (bool, error) { _, ok, err := ep.WaitAny(mx.Infinite, 0, everything); return ok, err },
		"Probe":   func() (bool, error) { _, ok, err := ep.Probe(mx.Infinite, 0, everything); return ok, err },
	}
}

type outcome struct {
	ok  bool
	err error
}

// start runs a call in a goroutine of its own.
func start(call func() (bool, error)) <-chan outcome {
	c := make(chan outcome, 1)
	go func() {
		ok, err := call()
		c <- outcome{ok, err}
	}()
	return c
}

// wakeUntil wakes the endpoint until the call returns: Wakeup does nothing to a
// call that has not started to block.
func wakeUntil(w *world, ep *mx.Endpoint, c <-chan outcome) outcome {
	w.Helper()
	for deadline := time.Now().Add(bound); time.Now().Before(deadline); runtime.Gosched() {
		select {
		case o := <-c:
			return o
		default:
			ep.Wakeup()
		}
	}
	w.Fatalf("Wakeup did not end the call within %v", bound)
	return outcome{}
}

func TestIII33WakeupEndsBlockingCalls(t *testing.T) {
	over(t, func(w *world) {
		ep := w.open()
		for name, call := range blocked(w, ep) {
			if o := wakeUntil(w, ep, start(call)); o.ok || o.err != nil {
				w.Errorf("%s returned %v, %v", name, o.ok, o.err)
			}
		}
	})
}

func TestIII33WakeupIsNotKept(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		b.Wakeup()
		recv := w.irecv(b, make([]byte, 1), 1, exact)
		w.isend(a, pattern(1, 0), toB, 1)
		w.succeed(b, recv)
	})
}

func TestIII33WakeupOfOneEndpointLeavesOthers(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		recv := w.irecv(b, make([]byte, 1), 1, exact)
		c := start(func() (bool, error) { _, ok, err := b.Wait(recv, bound); return ok, err })
		for range 100 {
			a.Wakeup()
		}
		w.isend(a, pattern(1, 0), toB, 1)
		if o := receive(w, "Wait", c); !o.ok || o.err != nil {
			w.Errorf("%v, %v", o.ok, o.err)
		}
	})
}

func TestIII32CloseEndsBlockingCalls(t *testing.T) {
	over(t, func(w *world) {
		for name := range blocked(w, w.open()) {
			ep := w.open()
			c := start(blocked(w, ep)[name])
			runtime.Gosched()
			shut(w, ep)
			if o := receive(w, name, c); o.ok {
				w.Errorf("%s has a result", name)
			} else {
				refused(w, o.err, mx.ErrBadEndpoint, ep.String())
			}
		}
	})
}
