package mx_test

import (
	"runtime"
	"testing"

	"gomx/mx"
)

// BenchmarkPut has eight bytes go to and fro between windows of two endpoints, whose
// programs look whether something has come. One operation is half a round trip.
func BenchmarkPut(b *testing.B) {
	w := newWorld(b, "shm")
	here, there, toThere, toHere := w.pair()
	mine, theirs := openWindow(w, here, make([]byte, 8), mx.WindowWrite), openWindow(w, there, make([]byte, 8), mx.WindowWrite)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 8)
		for i := uint64(1); await(theirs, i) && theirs.Bytes()[0] == 0; i++ {
			if sent, err := there.Put(buf, toHere, mine.Handle(), 0); !sent || err != nil {
				b.Error(sent, err)
			}
		}
	}()
	buf := make([]byte, 8)
	b.ReportAllocs()
	n := uint64(0)
	for i := 0; b.Loop(); i++ {
		if i%2 == 0 {
			n++
			if sent, err := here.Put(buf, toThere, theirs.Handle(), 0); !sent || err != nil {
				b.Fatal(sent, err)
			}
			await(mine, n)
		}
	}
	_, _ = here.Put([]byte{1}, toThere, theirs.Handle(), 0)
	<-done
}

// await looks until a window has seen so many puts.
func await(w *mx.Window, n uint64) bool {
	for looks := 1; ; looks++ {
		puts, _, err := w.Poll()
		if err != nil || puts >= n {
			return err == nil
		}
		if looks%1000 == 0 {
			runtime.Gosched()
		}
	}
}
