//go:build linux

package ring_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"gomx/transport/shm/internal/ring"
	"gomx/transport/wire"
)

// stressLimit ends a stress test that has got stuck.
const stressLimit = 30 * time.Second

// Writer and reader in two goroutines. The reader's wake-ups are not needed: the
// writer asks again.
func TestTwoGoroutines(t *testing.T) {
	mem := mapped(t)
	w, r := ends(t, mem)
	frames := uint64(200_000)
	if testing.Short() {
		frames = 20_000
	}
	var failed atomic.Bool
	deadline := time.Now().Add(stressLimit)
	ended := make(chan struct{})
	defer func() { failed.Store(true); <-ended }() // the memory goes with the test
	go func() {
		defer close(ended)
		scratch := make([]byte, ring.MaxFrame+8)
		for n := range frames {
			f := stressFrame(n)
			h, v := f.header(), f.vec(scratch)
			for !w.Send(&h, &v, 0) {
				if failed.Load() {
					return
				}
				runtime.Gosched()
			}
		}
	}()
	scratch := make([]byte, ring.MaxFrame+8)
	polls := 0
	for n := uint64(0); n < frames; {
		h, payload, ok := r.Next()
		if polls++; !ok || polls%1024 == 0 && time.Now().After(deadline) {
			t.Fatalf("frame %d: ok %v, or stuck", n, ok)
		}
		if h == nil {
			if r.Behind() {
				r.Publish()
			}
			runtime.Gosched()
			continue
		}
		f := stressFrame(n)
		f.check(t, h, payload, scratch)
		n++
		if r.Take() {
			r.Publish()
		}
	}
}

// stressFrame is mostly small, now and then large.
func stressFrame(n uint64) frame {
	f := frame{number: n, kind: wire.Eager, length: int(n % 48)}
	switch {
	case n%1009 == 0:
		f.length = ring.MaxFrame
	case n%101 == 0:
		f.length = 3000
	case n%7 == 0:
		f.kind, f.flags = wire.Rendezvous, wire.HasID|wire.HasRange
	}
	return f
}

// The writer scribbles at random over its ring while the reader reads it.
func TestHostileWriterInParallel(t *testing.T) {
	mem := mapped(t)
	_, r := ends(t, mem)
	var stop, stopped atomic.Bool
	go func() {
		defer stopped.Store(true)
		for x := uint64(88172645463325252); !stop.Load(); {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			at := x % (64 + ring.Slots*64)
			if x>>40&3 == 0 {
				// Something that looks like a frame: kind, flags, stamp, length.
				at = at &^ 63
				mem[at] = byte(x>>32)%12 + 1
				mem[at+1] = byte(x>>44) & 15
				mem[at+2] = 1
				mem[at+3] = 0
				mem[at+4] = byte(x >> 48)
				mem[at+5] = byte(x >> 56)
				continue
			}
			mem[at] = byte(x >> 32)
		}
	}()
	limit := 300 * time.Millisecond
	if testing.Short() {
		limit = 50 * time.Millisecond
	}
	frames := 0
	for begin := time.Now(); time.Since(begin) < limit; frames++ {
		readHostile(t, mem, r)
	}
	stop.Store(true)
	for !stopped.Load() {
		runtime.Gosched()
	}
	t.Logf("%d reads", frames)
}
