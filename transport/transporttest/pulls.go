package transporttest

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
	"time"

	"gomx/transport/wire"
)

// testPull pulls lists of many lengths and cuts, whole and in part.
func testPull(t *testing.T, w *world) {
	a, b := w.boundPair()
	cuts := []int{1, 2, 5, 256}
	for _, total := range []int{1, 8, 64, 4096, 100_003, 1 << 20} {
		for i, from := range cuts {
			for _, n := range []int{total, total - total/3} {
				to := cuts[(i+total)%len(cuts)]
				if wrong := pullOnce(a, b, cut(total, from), cut(total, to), n); wrong != "" {
					t.Fatalf("%d of %d bytes, %d to %d segments: %s", n, total, from, to, wrong)
				}
			}
		}
	}
}

// pullOnce lets to pull n bytes of src from its peer into dst.
func pullOnce(from, to *end, src, dst *wire.Vec, n int) (wrong string) {
	want, blank := make([]byte, src.Len()), bytes.Repeat([]byte{0x77}, dst.Len())
	content(want, uint32(n))
	src.Scatter(0, want)
	dst.Scatter(0, blank)

	desc, token := from.link.Expose([]byte("head"), src)
	defer from.link.Unexpose(token)
	if !bytes.HasPrefix(desc, []byte("head")) {
		return "Expose did not append"
	}
	if !to.pull(desc[len("head"):], dst, n) {
		return "the pull failed"
	}
	got := make([]byte, dst.Len())
	dst.Gather(got, 0)
	if !bytes.Equal(got[:n], want[:n]) {
		return "other bytes came"
	}
	if !bytes.Equal(got[n:], blank[n:]) {
		return "bytes beyond the end were written"
	}
	return ""
}

// pull pulls and polls until the answer is there.
func (e *end) pull(desc []byte, dst *wire.Vec, n int) bool {
	const id = 4711
	finished, fine := false, false
	e.pulled = func(got uint64, ok bool) { finished, fine = got == id, ok }
	result := e.link.Pull(desc, dst, n, id)
	for try := 0; result == wire.PullDeclined && try < declines; try++ {
		result = e.link.Pull(desc, dst, n, id) // a link tries its ways in turn
	}
	switch result {
	case wire.PullDone:
		return true
	case wire.PullStarted:
		for begin := time.Now(); !finished && time.Since(begin) < patience; runtime.Gosched() {
			e.poll()
		}
	}
	return finished && fine
}

// declines is how often in a row a link may decline to pull.
const declines = 100

// testBothPull pulls both ways at once. Each side describes its list in a frame.
func testBothPull(t *testing.T, w *world) {
	a, b := w.boundPair()
	const total, rounds = 50_000, 30
	wrong := make(chan string, 2)
	for _, e := range []*end{a, b} {
		go func() { wrong <- e.exchangeByPull(total, rounds) }()
	}
	for range 2 {
		if s := <-wrong; s != "" {
			t.Error(s)
		}
	}
}

func (e *end) exchangeByPull(total, rounds int) (wrong string) {
	want, got := make([]byte, total), make([]byte, total)
	pulled, notified := 0, 0
	var desc []byte
	e.take = func(_ int32, h *wire.Header, payload []byte) bool {
		if h.Kind == wire.Notify {
			notified++
		} else {
			desc = append(desc[:0], payload...)
		}
		return true
	}
	await := func(what string, done func() bool) bool {
		for begin := time.Now(); !done(); runtime.Gosched() {
			e.poll()
			if time.Since(begin) > patience {
				wrong = fmt.Sprintf("%v waited in vain for %s", e.address, what)
				return false
			}
		}
		return true
	}
	for round := range rounds {
		src, dst := cut(total, 1+round%4), cut(total, 1+round%3)
		content(want, uint32(round))
		src.Scatter(0, want)
		mine, token := e.link.Expose(nil, src)
		h := wire.Header{Kind: wire.Rendezvous, Length: uint32(len(mine))}
		ok := await("room", func() bool { return e.link.Send(&h, &wire.Vec{First: mine}, 0) }) &&
			await("a description", func() bool { return len(desc) > 0 })
		if !ok {
			return wrong
		}
		if !e.pull(desc, dst, total) {
			return fmt.Sprintf("%v: pull %d failed", e.address, round)
		}
		desc = desc[:0]
		pulled++
		if dst.Gather(got, 0); !bytes.Equal(got, want) {
			return fmt.Sprintf("%v: pull %d brought other bytes", e.address, round)
		}
		notify := wire.Header{Kind: wire.Notify}
		ok = await("room", func() bool { return e.link.Send(&notify, &wire.Vec{}, 0) }) &&
			await("the notice", func() bool { return notified == pulled })
		if !ok {
			return wrong
		}
		e.link.Unexpose(token)
	}
	return ""
}
