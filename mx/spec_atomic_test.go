package mx_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"

	"gomx/mx"
)

// words returns the binary form of numbers.
func words(numbers ...int64) []byte {
	var b []byte
	for _, n := range numbers {
		b = binary.NativeEndian.AppendUint64(b, uint64(n))
	}
	return b
}

// fetch carries out an atomic, and returns what was there before.
func (w *world) fetch(ep *mx.Endpoint, op mx.AtomicOp, operands []byte, to mx.EndpointAddr, h mx.WindowHandle, at uint32) []byte {
	w.Helper()
	buf := append([]byte(nil), operands...)
	r, err := ep.IfetchAtomic(op, mx.AtomicInt64, buf, to, h, at, 7, nil)
	if err != nil {
		w.Fatal(err)
	}
	st := w.done(ep, r)
	if st.Code != mx.StatusSuccess || st.MatchInfo != 7 || st.MsgLength != st.XferLength {
		w.Fatalf("%v: %+v", op, st)
	}
	return buf[:st.XferLength]
}

// Atomics with a result, without one and without a request, to peers and to oneself.
func TestAtomics(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for _, r := range []route{{a, b, toB}, {b, b, b.Addr()}} {
			win := openWindow(w, r.to, make([]byte, 64), readWrite)
			h := win.Handle()
			for _, c := range []struct {
				op        mx.AtomicOp
				operands  []byte
				was, then []byte
			}{
				{mx.AtomicSum, words(5), words(0), words(5)},
				{mx.AtomicSum, words(-2, 9), words(5, 0), words(3, 9)},
				{mx.AtomicProduct, words(7), words(3), words(21)},
				{mx.AtomicMax, words(20, 40), words(21, 9), words(21, 40)},
				{mx.AtomicMin, words(20), words(21), words(20)},
				{mx.AtomicOr, words(3), words(20), words(23)},
				{mx.AtomicAnd, words(6), words(23), words(6)},
				{mx.AtomicXor, words(3), words(6), words(5)},
				{mx.AtomicCompareSwap, words(6, 1), words(5), words(5)},
				{mx.AtomicCompareSwap, words(5, 40, 1, 2), words(5, 40), words(1, 2)},
				{mx.AtomicReplace, words(8), words(1), words(8)},
			} {
				if was := w.fetch(r.from, c.op, c.operands, r.addr, h, 8); string(was) != string(c.was) {
					w.Errorf("%v of %x: there was %x, want %x", c.op, c.operands, was, c.was)
				}
				if now := w.fetch(r.from, mx.AtomicRead, make([]byte, len(c.then)), r.addr, h, 8); string(now) != string(c.then) {
					w.Errorf("%v of %x: there is %x, want %x", c.op, c.operands, now, c.then)
				}
			}
			plain, err := r.from.Iatomic(mx.AtomicSum, mx.AtomicInt64, words(100), r.addr, h, 8, 0, nil)
			if err != nil {
				w.Fatal(err)
			}
			if st := w.done(r.from, plain); st.Code != mx.StatusSuccess || st.XferLength != 8 {
				w.Fatalf("%+v", st)
			}
			operands := words(1000)
			if sent, err := r.from.Atomic(mx.AtomicSum, mx.AtomicInt64, operands, r.addr, h, 8); !sent || err != nil {
				w.Fatal(sent, err)
			}
			clear(operands)
			if now := w.fetch(r.from, mx.AtomicRead, words(0), r.addr, h, 8); string(now) != string(words(1108)) {
				w.Errorf("the sum is %x", now)
			}
			locked(r.to)
			if string(win.Bytes()[:8]) != string(words(0)) {
				w.Error("an atomic has touched what lies beside it")
			}
		}
	})
}

// What does not fit is refused at once, and names what would.
func TestAtomicsThatDoNotFit(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		h := openWindow(w, b, make([]byte, 2000), readWrite).Handle()
		for _, c := range []struct {
			op    mx.AtomicOp
			typ   mx.AtomicType
			n, at int
			code  mx.ReturnCode
			says  string
		}{
			{mx.AtomicSum, mx.AtomicInt64, 8, 4, mx.ErrBadParamVal, "multiples of 8"},
			{mx.AtomicSum, mx.AtomicInt64, 7, 0, mx.ErrBadParamVal, "int64 have 8"},
			{mx.AtomicAnd, mx.AtomicFloat64, 8, 0, mx.ErrBadParamVal, "bitwise and does not exist"},
			{99, mx.AtomicInt64, 8, 0, mx.ErrBadParamVal, "unknown operation"},
			{mx.AtomicSum, 99, 8, 0, mx.ErrBadParamVal, "unknown type"},
			{mx.AtomicCompareSwap, mx.AtomicInt32, 4, 0, mx.ErrBadParamVal, "two for each element"},
			{mx.AtomicReplace, mx.AtomicBytes, mx.MaxAtomic + 1, 0, mx.ErrBadSegMem, "at most 1008"},
		} {
			_, err := a.Iatomic(c.op, c.typ, make([]byte, c.n), toB, h, uint32(c.at), 0, nil)
			refused(w, err, c.code, "iatomic on", c.says)
			_, err = a.IfetchAtomic(c.op, c.typ, make([]byte, c.n), toB, h, uint32(c.at), 0, nil)
			refused(w, err, c.code, "ifetchatomic on", c.says)
			_, err = a.Atomic(c.op, c.typ, make([]byte, c.n), toB, h, uint32(c.at))
			refused(w, err, c.code, "atomic on", c.says)
		}
		_, err := a.Iatomic(mx.AtomicSum, mx.AtomicInt64, words(1), toA, h, 0, 0, nil)
		refused(w, err, mx.ErrBadEndpoint)
		_, err = a.Atomic(mx.AtomicSum, mx.AtomicInt64, words(1), toA, h, 0)
		refused(w, err, mx.ErrBadEndpoint)
	})
}

// The owner's own, which take no request, are atomic with those of a peer, and are checked as they are.
func TestAtomicsOfAWindowItself(t *testing.T) {
	over(t, func(w *world) {
		const each = 2000
		a, b, toB, _ := w.pair()
		win := openWindow(w, b, make([]byte, 16), readWrite)
		added := make(chan error, 1)
		go func() {
			var err error
			for i := 0; i < each && err == nil; i++ {
				err = win.FetchAtomic(mx.AtomicSum, mx.AtomicInt64, words(1), 8)
			}
			added <- err
		}()
		for range each {
			w.fetch(a, mx.AtomicSum, words(1), toB, win.Handle(), 8)
		}
		if err := <-added; err != nil {
			w.Fatal(err)
		}
		was := words(0, 5)
		if err := win.FetchAtomic(mx.AtomicMax, mx.AtomicInt64, was, 0); err != nil || string(was) != string(words(0, 2*each)) {
			w.Errorf("%v, %v", was, err)
		}
		for _, c := range []struct {
			typ    mx.AtomicType
			buf    []byte
			offset uint32
			want   error
		}{
			{mx.AtomicBytes, words(1), 0, mx.ErrBadParamVal},
			{mx.AtomicInt64, words(1), 4, mx.ErrBadParamVal},
			{mx.AtomicInt64, words(1)[:7], 0, mx.ErrBadParamVal},
			{mx.AtomicInt64, make([]byte, mx.MaxAtomic+8), 0, mx.ErrBadSegMem},
			{mx.AtomicInt64, words(1), 16, mx.StatusBadRDMARange},
		} {
			if err := win.FetchAtomic(mx.AtomicSum, c.typ, c.buf, c.offset); !errors.Is(err, c.want) {
				w.Errorf("%d bytes of %v at %d: %v, want %v", len(c.buf), c.typ, c.offset, err, c.want)
			}
		}
		if err := win.Close(); err != nil {
			w.Fatal(err)
		}
		if err := win.FetchAtomic(mx.AtomicSum, mx.AtomicInt64, words(1), 0); !errors.Is(err, mx.StatusBadRDMAWindow) {
			w.Errorf("on a closed window: %v", err)
		}
	})
}

// The target checks window, permission and range, and from DenyWindows on who asks.
func TestAtomicsAreCheckedAtTheTarget(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		in, out := openWindow(w, b, make([]byte, 16), mx.WindowWrite), openWindow(w, b, make([]byte, 16), mx.WindowRead)
		guessed := in.Handle()
		guessed.ID += 1 << 30
		check := func(h mx.WindowHandle, op mx.AtomicOp, fetch bool, at uint32, want mx.StatusCode) {
			w.Helper()
			begin := a.Iatomic
			if fetch {
				begin = a.IfetchAtomic
			}
			r, err := begin(op, mx.AtomicInt64, words(1), toB, h, at, 0, nil)
			if err != nil {
				w.Fatal(err)
			}
			if st := w.done(a, r); st.Code != want {
				w.Errorf("%v at %d, fetch %v: %v, want %v", op, at, fetch, st.Code, want)
			}
		}
		check(in.Handle(), mx.AtomicSum, false, 8, mx.StatusSuccess)
		check(in.Handle(), mx.AtomicSum, true, 8, mx.StatusRDMANotPermitted)
		check(in.Handle(), mx.AtomicRead, true, 8, mx.StatusRDMANotPermitted)
		check(in.Handle(), mx.AtomicSum, false, 16, mx.StatusBadRDMARange)
		check(out.Handle(), mx.AtomicRead, true, 8, mx.StatusSuccess)
		check(out.Handle(), mx.AtomicSum, true, 8, mx.StatusRDMANotPermitted)
		check(out.Handle(), mx.AtomicSum, false, 8, mx.StatusRDMANotPermitted)
		check(guessed, mx.AtomicSum, false, 8, mx.StatusBadRDMAWindow)
		nic, id := place(w, a)
		if err := b.DenyWindows(nic, id); err != nil {
			w.Fatal(err)
		}
		check(in.Handle(), mx.AtomicSum, false, 8, mx.StatusRDMANotPermitted)
		later := openWindow(w, b, make([]byte, 16), readWrite).Handle()
		check(later, mx.AtomicRead, true, 8, mx.StatusRDMANotPermitted)
		if st := w.done(a, w.iput(a, words(9), toB, in.Handle(), 8)); st.Code != mx.StatusRDMANotPermitted {
			w.Errorf("a put of who is denied: %v", st.Code)
		}
		if st := w.done(a, w.iget(a, words(9), toB, later, 8)); st.Code != mx.StatusRDMANotPermitted {
			w.Errorf("a get of who is denied: %v", st.Code)
		}
		if st := w.done(b, w.iput(b, words(9), toA, openWindow(w, a, make([]byte, 8), readWrite).Handle(), 0)); st.Code != mx.StatusSuccess {
			w.Errorf("a put of who denies: %v", st.Code)
		}
		locked(b)
		if string(in.Bytes()) != string(words(0, 1)) || string(out.Bytes()) != string(words(0, 0)) {
			w.Errorf("what was refused has changed %x and %x", in.Bytes(), out.Bytes())
		}
	})
}

// Several endpoints and the owner add to one number at once: nothing is lost, and none fetch the same.
func TestAtomicsAreAtomic(t *testing.T) {
	over(t, func(w *world) {
		const each = 300
		owner := w.open()
		win := openWindow(w, owner, make([]byte, 8), readWrite)
		h := win.Handle()
		fetched := make([][]byte, 4)
		var all sync.WaitGroup
		for i := range fetched {
			ep, to := owner, owner.Addr()
			if i > 0 {
				ep = w.open()
				to = w.connect(ep, owner)
			}
			all.Go(func() {
				for range each {
					buf := words(1)
					r, err := ep.IfetchAtomic(mx.AtomicSum, mx.AtomicInt64, buf, to, h, 0, 0, nil)
					if err != nil {
						t.Error(err)
						return
					}
					if st, done, err := ep.Wait(r, bound); !done || err != nil || st.Code != mx.StatusSuccess {
						t.Error(st, done, err)
						return
					}
					fetched[i] = append(fetched[i], buf...)
				}
			})
		}
		all.Wait()
		seen := map[uint64]bool{}
		for _, b := range fetched {
			last := uint64(0)
			for i := 0; i < len(b); i += 8 {
				n := binary.NativeEndian.Uint64(b[i:])
				if seen[n] || i > 0 && n <= last {
					t.Fatalf("%d is fetched twice, or behind %d", n, last)
				}
				seen[n], last = true, n
			}
		}
		locked(owner)
		if n := binary.NativeEndian.Uint64(win.Bytes()); n != 4*each || len(seen) != 4*each {
			t.Errorf("the number is %d, and %d were fetched", n, len(seen))
		}
	})
}

// A number in the memory of one endpoint counts for all: each fetches another ticket.
func ExampleEndpoint_IfetchAtomic() {
	a, b, toB, done := twoEndpoints()
	defer done()

	counter := must(b.OpenWindow(make([]byte, 8), mx.WindowRead|mx.WindowWrite))
	ticket := func(ep *mx.Endpoint, to mx.EndpointAddr) uint64 {
		buf := binary.NativeEndian.AppendUint64(nil, 1)
		st := wait(ep, must(ep.IfetchAtomic(mx.AtomicSum, mx.AtomicUint64, buf, to, counter.Handle(), 0, 0, nil)))
		if st.Err() != nil {
			fmt.Println(st.Err())
		}
		return binary.NativeEndian.Uint64(buf)
	}
	fmt.Println(ticket(a, toB), ticket(b, b.Addr()), ticket(a, toB))
	// Output: 0 1 2
}
