package stream

import (
	"flag"
	"math/rand/v2"
	"testing"

	"gomx/internal/testlength"
)

// chooser decides what happens next: a number below n.
type chooser func(n int) int

func seeded(seed int) chooser { return rand.New(rand.NewPCG(uint64(seed), 5)).IntN }

// randomConfig makes limits so small that all of them are met.
func randomConfig(pick chooser) Config {
	c := Config{
		BufferMax: 1 + pick(100), Credits: 1 + pick(5), MaxAdvertised: 1 + pick(200), Segment: 1 + pick(40), HoldMin: pick(3) * 20,
	}
	c.BufferMin = 1 + pick(c.BufferMax)
	c.Piece = 1 + pick(c.MaxAdvertised)
	c.DirectMin = 1 + pick(min(c.Piece, c.Segment))
	if pick(8) == 0 {
		c.BufferMax, c.BufferMin = NoBuffer, 0
	}
	return c
}

// history lives through some steps, then lets everything come to rest.
func history(w *world, steps int, pick chooser) {
	w.t.Helper()
	largest := 1 << pick(9)
	cancels := pick(3) * 4
	ends := pick(4) == 0
	for range steps {
		step(w, pick, largest, cancels)
		if ends && pick(200) == 0 {
			w.shutdown()
		}
		if pick(100) == 0 {
			w.quiet()
		}
		if pick(300) == 0 {
			largest = 1 << pick(9)
		}
	}
	w.quiet()
	drain(w)
}

func step(w *world, pick chooser, largest, cancels int) {
	w.t.Helper()
	switch k := pick(20 + cancels); {
	case k < 4 && w.s.sends.len() < 6 && !w.s.shut:
		w.send(pick(largest + 1))
	case k < 8 && w.r.waiting.len() < 6:
		f := Flags(0)
		if pick(3) == 0 {
			f |= WaitAll
		}
		if pick(8) == 0 && w.r.cfg.buffered() {
			f |= Peek
		}
		if pick(10) == 0 {
			f |= Hidden
		}
		w.receive(pick(largest+1), f)
	case k < 12 && w.toReceiver.len() > 0:
		w.match()
	case k < 15 && w.toSender.len() > 0:
		w.hear()
	case k < 19 && len(w.flying) > 0:
		w.complete(pick(len(w.flying)))
	case k == 19:
		w.r.Trim()
		w.runReceiver(nil)
	case k < 22 && len(w.nextSend) > 0:
		w.cancelSend(w.nextSend[pick(len(w.nextSend))])
	case k >= 22 && len(w.nextRecv) > 0:
		id := w.nextRecv[pick(len(w.nextRecv))]
		if w.cancelReceive(id); pick(2) == 0 {
			w.r.Stay(id)
			w.runReceiver(nil)
		}
	}
}

// drain receives what is left and the end, and checks that it was all.
func drain(w *world) {
	w.t.Helper()
	w.shutdown()
	left := 1 + len(w.stream) + len(w.nextRecv) // each takes a byte, but for those that only look
	for _, m := range w.sends {
		left += len(m.bytes)
	}
	for ; !w.r.Ended(); left-- {
		if left < 0 {
			w.t.Fatalf("%s: no end", w.state())
		}
		w.receive(50, 0)
		w.quiet()
	}
	w.receive(1, 0)
	w.quiet()
	switch {
	case w.lastN != 0 || w.lastStatus != OK:
		w.t.Fatalf("behind the end: %d bytes, status %d", w.lastN, w.lastStatus)
	case len(w.stream) > 0:
		w.t.Fatalf("%d bytes are lost", len(w.stream))
	case len(w.sends)+len(w.receives) > 0:
		w.t.Fatalf("%d sends and %d receives never finished", len(w.sends), len(w.receives))
	case len(w.posted) > 0:
		w.t.Fatalf("%d receives are still posted", len(w.posted))
	}
	c := w.r.Counters()
	if got := w.s.Counters(); got.DirectBytes+got.IndirectBytes != c.DirectBytes+c.IndirectBytes {
		w.t.Fatalf("sent %+v, received %+v", got, c)
	}
}

var histories = flag.Int("stream.histories", 15, "histories of TestHistories")

func TestHistories(t *testing.T) {
	testlength.Alone(t)
	testlength.Long(t)
	seeds, steps := *histories, 100_000
	if testing.Short() {
		seeds, steps = 200, 2_000
	}
	var got ReceiverCounters
	var sent SenderCounters
	at := 0
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", at)
		}
	}()
	for at = range seeds {
		pick := seeded(at)
		lives := 1 + pick(20)
		for range lives {
			w := newWorld(t, randomConfig(pick), pick(60))
			history(w, steps/lives, pick)
			r, s := w.r.Counters(), w.s.Counters()
			got.DirectBytes += r.DirectBytes
			got.PlacedBytes += r.PlacedBytes
			got.CopiedBytes += r.CopiedBytes
			got.Voided += r.Voided
			got.Withdrawn += r.Withdrawn
			got.Strays += r.Strays
			sent.Stale += s.Stale
			sent.Switches += s.Switches
			sent.Holds += s.Holds
		}
	}
	for _, happened := range []uint64{
		got.DirectBytes, got.PlacedBytes, got.CopiedBytes, got.Voided, got.Withdrawn, got.Strays, sent.Stale, sent.Switches, sent.Holds,
	} {
		if happened == 0 {
			t.Errorf("these histories left something out: %+v, %+v", got, sent)
		}
	}
}
