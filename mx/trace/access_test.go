package trace_test

import (
	"encoding/binary"
	"testing"
	"time"

	"gomx/mx"
	"gomx/mx/trace"
)

// The accesses of the test, told apart by their place in the window.
const (
	putNow = 8 * (1 + iota)
	putSmall
	getSmall
	atomicNow
	atomicAdd
	atomicFetch
	ownPut
	ownAtomic
	putLarge
	getLarge = putLarge + largeBytes
)

// windowTraffic has an endpoint put into a window of another, get from it and combine with it, and likewise with its own.
func windowTraffic(t *testing.T, medium, folder string) {
	if err := mx.Init(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mx.Finalize() }()
	mx.SetErrorHandler(mx.ErrorsReturn)
	a, b, to := traced(t, medium, folder)
	wait := func(code mx.StatusCode) func(mx.Request, error) {
		return func(r mx.Request, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			if st, done, err := a.Wait(r, 10*time.Second); !done || err != nil || st.Code != code {
				t.Fatal(st, done, err)
			}
		}
	}
	good := wait(mx.StatusSuccess)
	now := func(sent bool, err error) {
		t.Helper()
		if !sent || err != nil {
			t.Fatal(sent, err)
		}
	}
	window := func(ep *mx.Endpoint) mx.WindowHandle {
		w, err := ep.OpenWindow(make([]byte, getLarge+largeBytes), mx.WindowRead|mx.WindowWrite)
		if err != nil {
			t.Fatal(err)
		}
		return w.Handle()
	}
	far, near, word := window(b), window(a), binary.NativeEndian.AppendUint64(nil, 7)
	now(a.Put(word, to, far, putNow))
	good(a.Iput(word, to, far, putSmall, 1, nil))
	good(a.Iget(make([]byte, 8), to, far, getSmall, 1, nil))
	now(a.Atomic(mx.AtomicSum, mx.AtomicUint64, word, to, far, atomicNow))
	good(a.Iatomic(mx.AtomicSum, mx.AtomicUint64, word, to, far, atomicAdd, 1, nil))
	good(a.IfetchAtomic(mx.AtomicSum, mx.AtomicUint64, word, to, far, atomicFetch, 1, nil))
	good(a.Iput(make([]byte, largeBytes), to, far, putLarge, 1, nil))
	good(a.Iget(make([]byte, largeBytes), to, far, getLarge, 1, nil))
	now(a.Put(word, a.Addr(), near, ownPut))
	good(a.IfetchAtomic(mx.AtomicSum, mx.AtomicUint64, word, a.Addr(), near, ownAtomic, 1, nil))
	read, err := b.OpenWindow(make([]byte, 16), mx.WindowRead)
	if err != nil {
		t.Fatal(err)
	}
	wait(mx.StatusRDMANotPermitted)(a.Iput(word, to, read.Handle(), 0, 1, nil))
	for _, ep := range []*mx.Endpoint{a, b} {
		if err := ep.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAccesses joins what both endpoints have traced of each sort of put, get and atomic.
func TestAccesses(t *testing.T) {
	for _, medium := range []string{"mem", "shm", "tcp"} {
		t.Run(medium, func(t *testing.T) {
			skipWithout(t, medium)
			folder := t.TempDir()
			windowTraffic(t, medium, folder)
			all := merged(t, folder)
			places := map[uint32]*trace.Access{}
			for i := range all.Accesses {
				a := &all.Accesses[i]
				if places[a.Offset] != nil {
					t.Errorf("the access to place %d is there twice", a.Offset)
				}
				places[a.Offset] = a
			}
			for _, c := range []struct {
				offset              uint32
				what                string
				bytes               uint32
				own, silent, refuse bool
			}{
				{putNow, trace.Put, 8, false, true, false}, {putSmall, trace.Put, 8, false, false, false},
				{getSmall, trace.Get, 8, false, false, false}, {atomicNow, trace.Atomic, 8, false, true, false},
				{atomicAdd, trace.Atomic, 8, false, false, false}, {atomicFetch, trace.Atomic, 8, false, false, false},
				{putLarge, trace.Put, largeBytes, false, false, false}, {getLarge, trace.Get, largeBytes, false, false, false},
				{ownPut, trace.Put, 8, true, true, false}, {ownAtomic, trace.Atomic, 8, true, false, false},
				{0, trace.Put, 8, false, false, true},
			} {
				a := places[c.offset]
				if a == nil {
					t.Errorf("the access to place %d is not there", c.offset)
					continue
				}
				if a.What != c.what || a.Bytes != c.bytes || a.Refused != c.refuse || (a.Served == trace.Unknown) != c.refuse || (a.To < 0) != c.refuse ||
					a.From < 0 || (a.From == a.To) != c.own || (a.Ended == trace.Unknown) != c.silent || a.Begun == trace.Unknown ||
					!c.refuse && a.Served < a.Begun || !c.silent && a.Ended < max(a.Begun, a.Served) {
					t.Errorf("place %d: %+v", c.offset, *a)
				}
			}
			if len(places) != len(all.Accesses) || len(all.Accesses) != 11 || len(all.Messages) != 0 {
				t.Errorf("%d accesses, %d messages", len(all.Accesses), len(all.Messages))
			}
			rep := all.Report()
			var sum trace.RankReport
			for i := range rep.Ranks {
				r := &rep.Ranks[i]
				sum.Puts, sum.Gets, sum.Atomics, sum.Refused, sum.Served = sum.Puts+r.Puts, sum.Gets+r.Gets, sum.Atomics+r.Atomics, sum.Refused+r.Refused, sum.Served+r.Served
			}
			if sum != (trace.RankReport{Puts: 5, Gets: 2, Atomics: 4, Refused: 1, Served: 10}) {
				t.Errorf("the report says %+v", sum)
			}
			checkChrome(t, all)
		})
	}
}
