package mx_test

import (
	"bytes"
	"encoding"
	"fmt"
	"testing"

	"gomx/internal/testlength"
	"gomx/mx"
)

var (
	_ encoding.BinaryAppender    = mx.WindowHandle{}
	_ encoding.BinaryMarshaler   = mx.WindowHandle{}
	_ encoding.BinaryUnmarshaler = (*mx.WindowHandle)(nil)
)

const readWrite = mx.WindowRead | mx.WindowWrite

func openWindow(w *world, ep *mx.Endpoint, buf []byte, may mx.WindowPermission) *mx.Window {
	w.Helper()
	win, err := ep.OpenWindow(buf, may)
	if err != nil {
		w.Fatal(err)
	}
	return win
}

func (w *world) iput(ep *mx.Endpoint, buf []byte, to mx.EndpointAddr, h mx.WindowHandle, at uint32) mx.Request {
	w.Helper()
	r, err := ep.Iput(buf, to, h, at, 0, nil)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

func (w *world) iget(ep *mx.Endpoint, buf []byte, from mx.EndpointAddr, h mx.WindowHandle, at uint32) mx.Request {
	w.Helper()
	r, err := ep.Iget(buf, from, h, at, 0, nil)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// Puts and gets of all sizes, to peers and to oneself, in one piece and in segments.
// A put is complete when its bytes are in the window.
func TestPutsAndGets(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for _, r := range []route{{a, b, toB}, {a, a, a.Addr()}} {
			memory := make([]byte, 300_000)
			h := openWindow(w, r.to, memory, readWrite).Handle()
			for i, n := range append(sizes, 299_000) {
				data, at := pattern(n, byte(i)), i*7
				put, err := r.from.Iputv(cut(data, 1+i%4), r.addr, h, uint32(at), uint64(i), n)
				if err != nil {
					w.Fatal(err)
				}
				st := w.succeed(r.from, put)
				if st.Source != r.addr || st.MatchInfo != uint64(i) || st.Context != n || int(st.MsgLength) != n || int(st.XferLength) != n {
					w.Fatalf("put of %d bytes: %+v", n, st)
				}
				back := make([]byte, n)
				get, err := r.from.Igetv(cut(back, 1+i%5), r.addr, h, uint32(at), uint64(i), n)
				if err != nil {
					w.Fatal(err)
				}
				st = w.succeed(r.from, get)
				if st.Source != r.addr || st.MatchInfo != uint64(i) || st.Context != n || int(st.MsgLength) != n || int(st.XferLength) != n {
					w.Fatalf("get of %d bytes: %+v", n, st)
				}
				if !bytes.Equal(back, data) {
					w.Fatalf("%d bytes came back changed", n)
				}
				locked(r.to)
				if !bytes.Equal(memory[at:at+n], data) || memory[at+n] != 0 && i == 0 {
					w.Fatalf("put of %d bytes: the window holds others", n)
				}
				locked(r.to)
			}
		}
		for label, want := range map[string]uint64{"puts": 30, "gets": 30, "puts, gets and atomics that no window permits": 0} {
			if n := counter(w, a, label); n != want {
				w.Errorf("%s: %d, want %d", label, n, want)
			}
		}
		if n := counter(w, b, "puts served") + counter(w, b, "gets served"); n != 30 {
			w.Errorf("%d puts and gets were served, want 30", n)
		}
	})
}

// locked takes the endpoint's lock for a moment, so that the race detector knows in what
// order the library and the test touch a window. It does not see what peers tell each other
// over a medium.
func locked(ep *mx.Endpoint) { ep.Counters() }

func TestWindowsAreCheckedAtTheTarget(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		memory, secret := pattern(10_000, 1), pattern(10_000, 2)
		in, out := openWindow(w, b, memory[1000:9000], mx.WindowWrite), openWindow(w, b, secret, mx.WindowRead)
		closed := openWindow(w, b, secret, readWrite)
		if err := closed.Close(); err != nil {
			w.Fatal(err)
		}
		other := openWindow(w, a, make([]byte, 10_000), readWrite) // of another endpoint
		guessed := in.Handle()
		guessed.ID += 1 << 30
		for _, r := range []route{{a, b, toB}, {b, b, b.Addr()}} {
			for i, c := range []struct {
				h    mx.WindowHandle
				get  bool
				at   uint32
				n    int
				want mx.StatusCode
			}{
				{in.Handle(), false, 0, 8001, mx.StatusBadRDMARange},
				{in.Handle(), false, 7999, 2, mx.StatusBadRDMARange},
				{in.Handle(), false, 8001, 0, mx.StatusBadRDMARange},
				{in.Handle(), false, 1<<32 - 1, 1, mx.StatusBadRDMARange},
				{in.Handle(), false, 1<<32 - 1, 100_000, mx.StatusBadRDMARange},
				{in.Handle(), true, 0, 1, mx.StatusRDMANotPermitted},
				{in.Handle(), true, 0, 8000, mx.StatusRDMANotPermitted},
				{out.Handle(), true, 9999, 2, mx.StatusBadRDMARange},
				{out.Handle(), true, 1, 100_000, mx.StatusBadRDMARange},
				{out.Handle(), false, 0, 1, mx.StatusRDMANotPermitted},
				{out.Handle(), false, 0, 10_000, mx.StatusRDMANotPermitted},
				{closed.Handle(), false, 0, 1, mx.StatusBadRDMAWindow},
				{closed.Handle(), true, 0, 10_000, mx.StatusBadRDMAWindow},
				{guessed, false, 0, 1, mx.StatusBadRDMAWindow},
				{guessed, true, 0, 8000, mx.StatusBadRDMAWindow},
				{mx.WindowHandle{}, false, 0, 0, mx.StatusBadRDMAWindow},
				{other.Handle(), false, 0, 1, mx.StatusBadRDMAWindow},
			} {
				buf := make([]byte, c.n)
				begin := w.iput
				if c.get {
					begin = w.iget
				}
				st := w.done(r.from, begin(r.from, buf, r.addr, c.h, c.at))
				if st.Code != c.want || st.XferLength != 0 || int(st.MsgLength) != c.n || st.Err() == nil {
					w.Errorf("case %d: %+v, want %v", i, st, c.want)
				}
				if !bytes.Equal(buf, make([]byte, c.n)) {
					w.Errorf("case %d: a get that was refused has brought bytes", i)
				}
			}
		}
		locked(b)
		if !bytes.Equal(memory, pattern(10_000, 1)) || !bytes.Equal(secret, pattern(10_000, 2)) {
			w.Error("what was refused has been written")
		}
		if n := counter(w, b, "puts, gets and atomics that no window permits"); n != 34 {
			w.Errorf("%d refusals were counted, want 34", n)
		}
	})
}

// A message that is sent behind a small put, without waiting for it, is received when
// the bytes are there; and so is one that is sent after the completion of a large one.
func TestMessagesBehindPuts(t *testing.T) {
	testlength.Long(t)
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		memory := make([]byte, 100_000)
		h := openWindow(w, b, memory, mx.WindowWrite).Handle()
		for i := range 200 {
			n := []int{1, 8, 100, 1023, 100_000}[i%5]
			data := pattern(n, byte(i))
			recv := w.irecv(b, nil, uint64(i), exact)
			put := w.iput(a, data, toB, h, 0)
			if n > 1023 {
				w.succeed(a, put)
			}
			sent := w.isend(a, nil, toB, uint64(i))
			w.succeed(b, recv)
			if !bytes.Equal(memory[:n], data) {
				w.Fatalf("round %d: the message was received before %d bytes were in the window", i, n)
			}
			if n <= 1023 {
				w.succeed(a, put)
			}
			w.succeed(a, sent)
		}
	})
}

func TestOpenWindowErrors(t *testing.T) {
	initialize(t)
	w := &world{t, "mem"}
	a := w.open()
	for _, may := range []mx.WindowPermission{0, 4, 255} {
		_, err := a.OpenWindow(nil, may)
		refused(t, err, mx.ErrBadParamVal, "open window")
	}
	win := openWindow(w, a, make([]byte, 10), readWrite)
	if err := win.Close(); err != nil {
		t.Error(err)
	}
	refused(t, win.Close(), mx.ErrBadSegMem, "close window", "closed already")
	left := openWindow(w, a, nil, mx.WindowRead)
	if n := counter(t, a, "windows"); n != 1 {
		t.Errorf("%d windows are counted, want 1", n)
	}
	if len(win.Bytes()) != 10 || win.Handle().Length != 10 || win.Handle() == left.Handle() {
		t.Errorf("%+v, %+v", win.Handle(), left.Handle())
	}
	var err error
	for range 1 << 16 {
		if _, err = a.OpenWindow(nil, mx.WindowRead); err != nil {
			break
		}
	}
	refused(t, err, mx.ErrNoResources, "open window", "65536 windows are open: close some")
	shut(t, a)
	refused(t, left.Close(), mx.ErrBadEndpoint)
	_, err = a.OpenWindow(nil, mx.WindowRead)
	refused(t, err, mx.ErrBadEndpoint)
}

func TestPutAndGetErrors(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		data := make([]byte, 10)
		h := openWindow(w, b, make([]byte, 10), readWrite).Handle()
		_, err := a.Iput(nil, mx.EndpointAddr{}, h, 0, 0, nil)
		refused(w, err, mx.ErrBadAddrList, "iput")
		_, err = a.Iget(nil, toA, h, 0, 0, nil)
		refused(w, err, mx.ErrBadEndpoint, "iget")
		_, err = a.Iputv(make([][]byte, mx.MaxSegments+1), toB, h, 0, 0, nil)
		refused(w, err, mx.ErrBadSegCount)
		put, get := w.iput(a, data, toB, h, 0), w.iget(a, make([]byte, 10), toB, h, 0)
		for _, r := range []mx.Request{put, get} {
			_, err = a.Cancel(r)
			refused(w, err, mx.ErrCancelNotSupported)
		}
		if _, err := a.Ibuffered(put); err != nil {
			w.Error(err)
		}
		_, err = a.Ibuffered(get)
		refused(w, err, mx.ErrBadRequest)
		w.succeed(a, put)
		w.succeed(a, get)
		forgotten := w.iput(a, data, toB, h, 0)
		if err := a.Forget(forgotten); err != nil {
			w.Error(err)
		}
		last := w.iput(a, data, toB, h, 0)
		if st, done, err := a.WaitAny(bound, 0, 0); !done || err != nil || st.Code != mx.StatusSuccess {
			w.Errorf("wait any: %+v, %v", st, err)
		}
		_, _, err = a.Test(last)
		refused(w, err, mx.ErrBadRequest)
		shut(w, a)
		_, err = a.Iput(nil, toB, h, 0, 0, nil)
		refused(w, err, mx.ErrBadEndpoint)
	})
}

// A peer that is gone, and its successor under the same address, who knows nothing of
// the windows.
func TestWindowsEndWithTheirEndpoint(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		h := openWindow(w, b, make([]byte, 1<<20), readWrite).Handle()
		nic, id := place(w, b)
		shut(w, b)
		for _, r := range []mx.Request{w.iput(a, make([]byte, 8), toB, h, 0), w.iget(a, make([]byte, 1<<20), toB, h, 0)} {
			if st := w.done(a, r); st.Err() == nil || st.XferLength != 0 {
				w.Errorf("the peer is closed: %+v", st)
			}
		}
		if _, err := w.tryOpen(id); err != nil {
			w.Fatal(err)
		}
		again, err := a.Connect(nic, id, testFilter, bound)
		if err != nil {
			w.Fatal(err)
		}
		if st := w.done(a, w.iput(a, make([]byte, 8), again, h, 0)); st.Code != mx.StatusBadRDMAWindow {
			w.Errorf("a window of the predecessor: %v", st.Code)
		}
		if st := w.done(a, w.iget(a, make([]byte, 8), toB, h, 0)); st.Err() == nil {
			w.Errorf("the address of the predecessor: %v", st.Code)
		}
	})
}

// From the return of Close on nothing is read or written, whatever was under way.
func TestCloseWindowUnderWay(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		const n = 1 << 19
		data, back := bytes.Repeat([]byte{0xaa}, n), make([]byte, n)
		for i := range 30 {
			memory := make([]byte, 2*n) // a half for puts and a half for gets
			win := openWindow(w, b, memory, readWrite)
			var under []mx.Request
			for range 4 {
				under = append(under, w.iput(a, data, toB, win.Handle(), 0), w.iget(a, back, toB, win.Handle(), n))
			}
			for range i {
				_ = a.Progress()
				_ = b.Progress()
			}
			if err := win.Close(); err != nil {
				w.Fatal(err)
			}
			clear(memory)
			for _, r := range under {
				if st := w.done(a, r); st.Code != mx.StatusSuccess && st.Code != mx.StatusBadRDMAWindow {
					w.Fatalf("%+v", st)
				}
			}
			locked(b)
			if !bytes.Equal(memory, make([]byte, 2*n)) {
				w.Fatal("memory was written after its window was closed")
			}
		}
	})
}

func TestWindowHandleBinaryForm(t *testing.T) {
	h := mx.WindowHandle{ID: 0x1122334455667788, Length: 0x99aabbcc}
	b, err := h.MarshalBinary()
	want := []byte{0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0xcc, 0xbb, 0xaa, 0x99}
	if err != nil || !bytes.Equal(b, want) || len(b) != mx.WindowHandleSize {
		t.Errorf("%x, %v", b, err)
	}
	var got mx.WindowHandle
	if err := got.UnmarshalBinary(b); err != nil || got != h {
		t.Errorf("%+v, %v", got, err)
	}
	for _, n := range []int{0, 11, 13} {
		if err := got.UnmarshalBinary(make([]byte, n)); err == nil || got != h {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if b, err := h.AppendBinary([]byte("x")); err != nil || string(b) != "x"+string(want) {
		t.Errorf("%x, %v", b, err)
	}
}

func TestNoAllocationPerPutAndGet(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		h := openWindow(w, b, make([]byte, 4096), readWrite).Handle()
		buf := make([]byte, 4096)
		for _, n := range []int{8, 4096} {
			once := func() {
				w.succeed(a, w.iput(a, buf[:n], toB, h, 0))
				w.succeed(a, w.iget(a, buf[:n], toB, h, 0))
			}
			for range 100 {
				once()
			}
			if allocs := w.allocations(50, once); allocs >= 1 && !raceDetector {
				w.Errorf("%v allocations per put and get of %d bytes", allocs, n)
			}
		}
	})
}

func ExampleEndpoint_Iput() {
	if err := mx.Init(); err != nil {
		fmt.Println(err)
		return
	}
	defer mx.Finalize()
	ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ep.Close()

	// The owner of the memory opens a window, and tells its peers the handle.
	memory := []byte("............")
	window, err := ep.OpenWindow(memory, mx.WindowRead|mx.WindowWrite)
	if err != nil {
		fmt.Println(err)
		return
	}
	handle := window.Handle()

	// A peer, here the endpoint itself, writes into it.
	put, err := ep.Iput([]byte("gomx"), ep.Addr(), handle, 4, 0, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := ep.Finish(put, mx.Infinite); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", memory)
	// Output: ....gomx....
}
