package transporttest

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"gomx/transport/wire"
)

// testPull pulls lists of many lengths and cuts, whole and in part, and what may no
// longer be pulled.
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
	testUnexported(t, a, b)
	testPullOfEarlierLink(t, a, b)
}

// testUnexported pulls what is not exported any more, and what ceases to be while it
// is pulled. The memory has other bytes by then, which must not come.
func testUnexported(t *testing.T, a, b *end) {
	const total = 1 << 20
	want, got := make([]byte, total), make([]byte, total)
	content(want, 1)
	for _, before := range []bool{true, false} {
		src, dst := cut(total, 3), cut(total, 2)
		src.Scatter(0, want)
		desc, token := a.link.Export(nil, src)
		var p *pulling
		if !before {
			p = b.beginPull(desc, dst, total)
		}
		a.link.Unexport(token, false)
		src.Scatter(0, bytes.Repeat([]byte{0x55}, total))
		_, other := a.link.Export(nil, src)
		if before {
			p = b.beginPull(desc, dst, total)
		}
		fine := b.awaitPull(p)
		a.link.Unexport(other, false)
		runtime.KeepAlive(src)
		rejoin(a, b)
		if dst.Gather(got, 0); fine && (before || !bytes.Equal(got, want)) {
			t.Errorf("pulled what is the user's again; it was before the pull began: %v", before)
		}
	}
}

// testPullOfEarlierLink closes a link with a pull under way: no more is written, and
// nothing is heard of it. Over the next link the first one's memory descriptor names nothing.
func testPullOfEarlierLink(t *testing.T, a, b *end) {
	const total = 1 << 20
	src, dst := cut(total, 1), cut(total, 1)
	content(src.First, 1)
	old, _ := a.link.Export(nil, src)
	p := b.beginPull(old, dst, total)
	told := p.over
	b.link.Close()
	clear(dst.First)
	a.link.Close()
	for range 100 {
		b.poll()
	}
	if p.over != told {
		t.Error("a pull ends after its link was closed")
	}
	if !bytes.Equal(dst.First, make([]byte, total)) {
		t.Error("bytes were written after the link was closed")
	}
	meetAgain(a, b)
	secret := cut(total, 1)
	secret.Scatter(0, bytes.Repeat([]byte{0x55}, total))
	_, token := a.link.Export(nil, secret)
	if b.pull(old, dst, total) {
		t.Error("the memory descriptor of an earlier link still names something")
	}
	a.link.Unexport(token, false)
	rejoin(a, b)
	if wrong := pullOnce(a, b, src, dst, total); wrong != "" {
		t.Errorf("over the next link: %s", wrong)
	}
}

// rejoin makes another link if the present one is down, as it may be after a pull of
// what can't be reached.
func rejoin(a, b *end) {
	if a.isDown() || b.isDown() {
		a.world.await("both ends to be down", func() bool { return a.isDown() && b.isDown() })
		a.link.Close()
		b.link.Close()
		meetAgain(a, b)
	}
}

func meetAgain(a, b *end) {
	a.dial(b)
	b.link = b.awaitAccepted()
	a.link.Bind(1)
	b.link.Bind(0)
}

func (e *end) isDown() bool {
	return slices.ContainsFunc(e.allDowns(), func(d down) bool { return d.link == e.link })
}

// pullOnce lets to pull n bytes of src from its peer into dst.
func pullOnce(from, to *end, src, dst *wire.Vec, n int) (wrong string) {
	want, blank := make([]byte, src.Len()), bytes.Repeat([]byte{0x77}, dst.Len())
	content(want, uint32(n))
	src.Scatter(0, want)
	dst.Scatter(0, blank)

	desc, token := from.link.Export([]byte("head"), src)
	defer runtime.KeepAlive(src) // a link does not do it for us
	defer from.link.Unexport(token, false)
	if !bytes.HasPrefix(desc, []byte("head")) {
		return "Export did not append"
	}
	done := false
	for try := 0; !done && try < tries; try++ {
		done = to.pull(desc[len("head"):], dst, n)
	}
	if !done {
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

// tries is how often a pull of a few bytes may fail that are by chance what a medium takes for nothing: one byte in
// 256, over RDMA.
const tries = 5

// pulling is a pull that has begun.
type pulling struct{ over, fine bool }

// pull pulls and polls until the answer is there.
func (e *end) pull(desc []byte, dst *wire.Vec, n int) bool {
	return e.awaitPull(e.beginPull(desc, dst, n))
}

func (e *end) beginPull(desc []byte, dst *wire.Vec, n int) *pulling {
	const id = 4711
	p := new(pulling)
	e.pulled = func(got uint64, ok bool) { p.over, p.fine = got == id, ok }
	result := e.link.Pull(desc, dst, n, id)
	for try := 0; result == wire.PullDeclined && try < declines; try++ {
		result = e.link.Pull(desc, dst, n, id) // a link tries its ways in turn
	}
	if result != wire.PullStarted {
		p.over, p.fine = true, result == wire.PullDone
	}
	return p
}

// awaitPull polls until the pull is over, or the link, and reports whether its bytes
// are there.
func (e *end) awaitPull(p *pulling) bool {
	for begin := time.Now(); !p.over && !e.isDown() && time.Since(begin) < patience; runtime.Gosched() {
		e.poll()
	}
	return p.over && p.fine
}

// declines is how often in a row a link may decline to pull.
const declines = 300

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
		mine, token := e.link.Export(nil, src)
		h := wire.Header{Kind: wire.Rendezvous, Length: uint32(len(mine))}
		ok := await("room", func() bool { return e.link.Send(&h, &wire.Vec{First: mine}, 0) }) &&
			await("a memory descriptor", func() bool { return len(desc) > 0 })
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
		e.link.Unexport(token, false)
		runtime.KeepAlive(src)
	}
	return ""
}
