package mx_test

import (
	"bytes"
	"math"
	"sync"
	"testing"

	"gomx/mx"
)

func alloc(t testing.TB, n int) []byte {
	t.Helper()
	b, err := mx.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAllocIsZeroedAlsoWhenUsedAgain(t *testing.T) {
	for range 5 {
		for _, n := range []int{1, 100, 4096, 1 << 20} {
			b := alloc(t, n)
			if len(b) != n || !bytes.Equal(b, make([]byte, n)) {
				t.Fatalf("%d bytes: %d, or not zeroed", n, len(b))
			}
			for i := range b {
				b[i] = 0xff
			}
			if err := mx.Free(b); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestAllocMisuse(t *testing.T) {
	for _, n := range []int{0, -1} {
		_, err := mx.Alloc(n)
		refused(t, err, mx.ErrBadParamVal, "alloc")
	}
	_, err := mx.Alloc(math.MaxInt - 1<<12)
	refused(t, err, mx.ErrNoResources, "alloc")
	for _, info := range mx.Transports() {
		if info.Name == "shm" && !info.Available {
			t.Skipf("Alloc is ordinary memory here: %s", info.Reason)
		}
	}
	b := alloc(t, 100)
	const text = "mx: free: bad segment: not what was allocated, or freed before"
	refused(t, mx.Free(b[1:]), mx.ErrBadSegMem, text)
	if err := mx.Free(b); err != nil {
		t.Fatal(err)
	}
	refused(t, mx.Free(b), mx.ErrBadSegMem, text)
	refused(t, mx.Free(make([]byte, 100)), mx.ErrBadSegMem, text)
	refused(t, mx.Free(nil), mx.ErrBadSegMem, text)
}

// TestTooLong: the error of a message that is too long, and of no other trouble with memory, names the limit.
func TestTooLong(t *testing.T) {
	initialize(t)
	w := &world{t, "mem"}
	a := w.open()
	segments := make([][]byte, 256)
	for i, segment := 0, make([]byte, 16<<20); i < len(segments); i++ {
		segments[i] = segment
	}
	_, err := a.Isendv(segments, a.Addr(), 1, nil)
	refused(t, err, mx.ErrBadSegMem, "isend", "bad segment: messages and windows are shorter than 4 GiB")
	win := openWindow(w, a, make([]byte, 8), mx.WindowRead)
	for range 2 {
		err = win.Close()
	}
	refused(t, err, mx.ErrBadSegMem, "bad segment: the window is closed already")
}

func TestAllocatedBuffersOnEitherSide(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for _, n := range []int{1, 1000, 70_000, 1 << 20} {
			want := alloc(w, n+16)
			got := alloc(w, n)
			copy(want[16:], pattern(n, 5))
			recv := w.irecv(b, got, 1, exact)
			send := w.isend(a, want[16:], toB, 1)
			w.succeed(b, recv)
			w.succeed(a, send)
			if !bytes.Equal(got, pattern(n, 5)) {
				w.Errorf("%d bytes arrived changed", n)
			}
			for _, m := range [][]byte{want, got} {
				if err := mx.Free(m); err != nil {
					w.Error(err)
				}
			}
		}
	})
}

func TestAllocFromManyGoroutines(t *testing.T) {
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 100 {
				b, err := mx.Alloc(1 + i*37)
				if err != nil {
					t.Error(err)
					return
				}
				for j := range b {
					b[j] = byte(g)
				}
				for _, v := range b {
					if v != byte(g) {
						t.Error("two goroutines got the same memory")
						return
					}
				}
				if err := mx.Free(b); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
