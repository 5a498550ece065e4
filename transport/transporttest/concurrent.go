package transporttest

import (
	"bytes"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"gomx/transport/wire"
)

// converse sends and receives so many frames and returns what went wrong. It
// runs beside the same of the peer, which may still wait for what the medium holds
// back here: each end goes on polling until both are done.
func (e *end) converse(total int, talking *atomic.Int32) (wrong string) {
	defer func() {
		talking.Add(-1)
		for begin := time.Now(); talking.Load() > 0 && time.Since(begin) < patience; runtime.Gosched() {
			e.poll()
		}
	}()
	sent, got := 0, 0
	want := make([]byte, min(3000, e.link.Caps().MaxFrame))
	e.take = func(_ int32, h *wire.Header, payload []byte) bool {
		size := got % len(want)
		content(want[:size], uint32(got))
		if h.Seq != uint32(got) || !bytes.Equal(payload, want[:size]) {
			wrong = fmt.Sprintf("%v: frame %d of %d bytes came as number %d", e.address, h.Seq, len(payload), got)
		}
		got++
		return true
	}
	buf := make([]byte, len(want))
	for begin := time.Now(); (sent < total || got < total) && wrong == ""; {
		if sent < total {
			size := sent % len(buf)
			content(buf[:size], uint32(sent))
			h := header(uint32(sent), wire.Eager, 0, size)
			if e.link.Send(&h, &wire.Vec{First: buf[:size]}, 0) {
				sent++
			}
		}
		if e.poll() == 0 {
			runtime.Gosched()
		}
		if time.Since(begin) > patience {
			return fmt.Sprintf("%v: %d frames sent and %d received of %d", e.address, sent, got, total)
		}
	}
	return wrong
}

// testWakeUp plays ball between two endpoints that sleep whenever they have
// nothing to do. A wake-up that gets lost leaves both asleep.
func testWakeUp(t *testing.T, w *world) {
	a, b := w.boundPair()
	const rounds = 300
	var gaveUp atomic.Bool
	watchdog := time.AfterFunc(patience, func() {
		gaveUp.Store(true)
		a.bell.Ring()
		b.bell.Ring()
	})
	defer watchdog.Stop()

	w.await("quiet", func() bool { return a.port.Quiet() && b.port.Quiet() })
	done := make(chan int, 2)
	for _, e := range []*end{a, b} {
		go func() { done <- e.playBall(rounds, e == a, &gaveUp) }()
	}
	for range 2 {
		if got := <-done; got != rounds {
			t.Errorf("a wake-up was lost after %d of %d rounds", got, rounds)
		}
	}
}

// testSleepyReader sends bursts of large frames to an end that polls once before it sleeps. What it is not told of
// once more after such a poll must not be there.
func testSleepyReader(t *testing.T, w *world) {
	a, b := w.boundPair()
	const bursts, burst = 20, 8
	size := min(40_000, a.link.Caps().MaxFrame)
	var gaveUp atomic.Bool
	watchdog := time.AfterFunc(patience, func() {
		gaveUp.Store(true)
		b.bell.Ring()
	})
	defer watchdog.Stop()
	var got atomic.Int32
	b.take = func(int32, *wire.Header, []byte) bool { got.Add(1); return true }
	done := make(chan struct{})
	go func() {
		defer close(done)
		for got.Load() < bursts*burst && !gaveUp.Load() {
			b.poll()
			b.bell.Arm(false)
			if b.port.Quiet() && got.Load() < bursts*burst && !gaveUp.Load() {
				b.bell.Sleep(-1)
			}
			b.bell.Disarm()
		}
	}()
	for i := range bursts {
		for j := range burst {
			p := parcel{header: header(uint32(i*burst+j), wire.Eager, 0, size), segments: 1}
			for v := p.vec(); !a.link.Send(&p.header, v, 0) && !gaveUp.Load(); {
				a.poll()
			}
		}
		for got.Load() < int32((i+1)*burst) && !gaveUp.Load() {
			a.poll()
			runtime.Gosched()
		}
	}
	<-done
	if n := got.Load(); n != bursts*burst {
		t.Errorf("%d frames of %d have come, and the reader sleeps", n, bursts*burst)
	}
}

// testSleepyWriter fills the medium and sleeps until there is room, again and again. The reader polls only while the
// writer waits. A medium that makes room and does not ring leaves the writer asleep.
func testSleepyWriter(t *testing.T, w *world) {
	a, b := w.boundPair()
	const rounds = 20
	var gaveUp, full atomic.Bool
	watchdog := time.AfterFunc(patience, func() {
		gaveUp.Store(true)
		a.bell.Ring()
	})
	defer watchdog.Stop()
	list := &wire.Vec{First: make([]byte, min(1000, a.link.Caps().MaxFrame))}
	h := header(0, wire.Eager, 0, len(list.First))
	done := make(chan int)
	go func() {
		filled := 0
		for ; filled < rounds && !gaveUp.Load(); filled++ {
			for a.link.Send(&h, list, 0) {
			}
			full.Store(true)
			for found := false; !found && !gaveUp.Load(); a.poll() {
				a.bell.Arm(false)
				quiet := a.port.Quiet()
				if found = a.link.Send(&h, list, 0); !found && quiet && !gaveUp.Load() {
					a.bell.Sleep(-1)
				}
				a.bell.Disarm()
			}
			full.Store(false)
		}
		done <- filled
	}()
	for {
		select {
		case filled := <-done:
			if gaveUp.Load() {
				t.Errorf("there is room, and the writer sleeps, when the medium was full for the %d. time", filled)
			}
			return
		default:
		}
		if full.Load() {
			b.poll()
		}
		runtime.Gosched()
	}
}

func (e *end) playBall(rounds int, begins bool, gaveUp *atomic.Bool) (got int) {
	e.take = func(int32, *wire.Header, []byte) bool { got++; return true }
	throws := 0
	throw := func() {
		for !e.link.Send(&wire.Header{Kind: wire.Eager}, &wire.Vec{}, 0) && !gaveUp.Load() {
			e.poll()
		}
		throws++
	}
	if begins {
		throw()
	}
	for got < rounds && !gaveUp.Load() {
		if e.poll() > 0 {
			if throws < rounds {
				throw()
			}
			continue
		}
		e.bell.Arm(false)
		if e.port.Quiet() && !gaveUp.Load() {
			e.bell.Sleep(-1)
		}
		e.bell.Disarm()
	}
	return got
}
