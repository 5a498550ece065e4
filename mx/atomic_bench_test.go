package mx_test

import (
	"testing"

	"gomx/mx"
)

// BenchmarkFetchAtomic adds to a number of a peer whose program waits in the library, and waits for what was there before. It is to be compared with
// twice BenchmarkLatency/shm/8.
func BenchmarkFetchAtomic(b *testing.B) {
	w := newWorld(b, "shm")
	here, there, toThere, toHere := w.pair()
	h := openWindow(w, there, make([]byte, 8), readWrite).Handle()
	waits := make(chan struct{})
	go func() {
		defer close(waits)
		r, err := there.IrecvFrom(make([]byte, 8), toHere, 1, mx.MatchMaskNone, nil)
		if err == nil {
			_, _, err = there.Wait(r, mx.Infinite)
		}
		if err != nil {
			b.Error(err)
		}
	}()
	buf := make([]byte, 8)
	b.ReportAllocs()
	for b.Loop() {
		r, err := here.IfetchAtomic(mx.AtomicSum, mx.AtomicInt64, buf, toThere, h, 0, 0, nil)
		if err != nil {
			b.Fatal(err)
		}
		if st, _, err := here.Wait(r, mx.Infinite); err != nil || st.Code != mx.StatusSuccess {
			b.Fatal(st.Code, err)
		}
	}
	if _, err := here.Isend(buf, toThere, 1, nil); err != nil {
		b.Fatal(err)
	}
	<-waits
}
