package sim

import (
	"fmt"

	"gomx/endpoint"
)

// Puts and gets. Each program has a window with a place for every endpoint, into which
// that one alone puts. It has one put or get under way towards a peer at a time, so it
// knows what lies in its place. Now and then the window is closed and another one
// opened.
const placeSize = 10 << 10

// window is the memory that a program's peers use.
type window struct {
	id     uint64
	mem    []byte
	closed bool
	free   bool   // closed, and no link uses it any more
	puts   uint64 // that were seen last
	additions
}

// place is what a program knows of its place in a peer's window.
type place struct {
	window *window
	busy   bool
	match  uint64 // what lies there is the contents of this put
	size   int    // and so many bytes
	puts   uint64
}

// mostWindows bounds the windows of a life.
const mostWindows = 4

func (n *node) openWindow() {
	if n.w.plan.Access == 0 {
		return
	}
	win := &window{mem: make([]byte, placeSize*n.w.plan.Endpoints+numberSize)}
	win.now, win.fetched = map[int]uint64{}, map[uint64]bool{}
	n.windows = append(n.windows, win)
	var err error
	key := mix(n.w.plan.Seed ^ uint64(n.index)<<40 ^ uint64(n.life)<<20 ^ uint64(len(n.windows)))
	if win.id, err = n.engine.OpenWindow(win.mem, endpoint.MayRead|endpoint.MayWrite, key); err != nil {
		n.w.fail(n, "open window: %v", err)
	}
	n.countPuts(win)
}

// changeWindow closes the window, and opens another one.
func (n *node) changeWindow() {
	if len(n.windows) == mostWindows {
		return
	}
	win := n.windows[len(n.windows)-1]
	if win.closed = true; !n.engine.CloseWindow(win.id) {
		n.w.fail(n, "an open window can't be closed")
	}
	n.openWindow()
}

// freeWindows clears the windows that are closed, once no link uses them.
func (n *node) freeWindows() {
	for _, win := range n.windows {
		if win.closed && !win.free && !n.engine.WindowBusy(win.id) {
			win.free, win.last = true, win.number()
			clear(win.mem)
		}
	}
}

// checkWindows looks whether those windows have stayed as they were, at the end of a
// life.
func (n *node) checkWindows(settled bool) {
	for _, win := range n.windows {
		number := win.last
		if !win.free {
			number = win.number()
		}
		n.checkNumber(win, number, settled)
		if win.free && !zero(win.mem) {
			n.w.fail(n, "a window was written after it was closed")
		}
	}
}

// access begins a put, get or atomic.
func (n *node) access(to int) bool {
	w := n.w
	if n.rng.IntN(3) == 0 {
		return n.addTo(to)
	}
	at, target := &n.peers[to], w.nodes[to]
	pl := &at.place
	if pl.busy || target.engine == nil {
		return false
	}
	if win := target.windows[len(target.windows)-1]; pl.window != win {
		pl.window, pl.size = win, -1
	}
	kind := opPut
	if pl.size >= 0 && n.rng.IntN(2) == 0 {
		kind = opGet
	}
	o := w.newOp(n, kind)
	o.peer, o.window = to, pl.window
	pl.busy = true
	from := uint32(placeSize * n.index)
	var err error
	if kind == opGet {
		o.size = n.rng.IntN(pl.size + 1)
		o.buffer = w.buffers.take(o.size)
		o.handle, err = n.engine.Get(o.buffer.segments(n.rng.IntN(3)), at.addr, o.window.id, from, 0, o)
	} else {
		pl.puts++
		pl.size = -1 // until it is there
		o.value = mix(w.plan.Seed ^ uint64(n.index)<<48 ^ uint64(to)<<32 ^ uint64(n.life)<<24 ^ pl.puts)
		o.size = n.rng.IntN(pick(n.rng, 64, 2000, placeSize) + 1)
		o.buffer = w.buffers.take(o.size)
		fill(o.buffer.bytes(), o.value)
		o.handle, err = n.engine.Put(o.buffer.segments(n.rng.IntN(3)), at.addr, o.window.id, from, 0, o)
	}
	if err != nil {
		w.fail(n, "put or get: %v", err)
	}
	w.report.Accesses++
	return true
}

// accessed checks what a put or get says, and what it has brought.
func (n *node) accessed(o *op, st *endpoint.Status) error {
	at := &n.peers[o.peer]
	pl := &at.place
	pl.busy = false
	if int(st.MsgLength) != o.size {
		return fmt.Errorf("put or get of %d bytes gets the status %+v", o.size, *st)
	}
	switch {
	case st.Code == endpoint.Success:
		if int(st.XferLength) != o.size {
			return fmt.Errorf("put or get: success with %d of %d bytes", st.XferLength, o.size)
		}
	case st.Code == endpoint.BadRDMAWindow && (o.window.closed || n.w.spoiled(n.index, o.peer)):
		return nil
	case !n.w.spoiled(n.index, o.peer) || int(st.Code) >= len(endings) || !endings[st.Code]:
		return fmt.Errorf("put or get of %d bytes: %v without reason", o.size, st.Code)
	default:
		n.w.report.Failed++
		if at.addr == st.Source {
			at.connected = false
		}
		return nil
	}
	if o.kind == opPut {
		pl.match, pl.size = o.value, o.size
		if o.window.free || o.window != n.w.lastWindow(o.peer) {
			return nil
		}
		here := o.window.mem[placeSize*n.index:]
		if err := verify(here[:o.size], o.value); err != nil {
			return fmt.Errorf("in the window after a put: %w", err)
		}
		return nil
	}
	if err := o.buffer.guarded(); err != nil {
		return fmt.Errorf("get: %w", err)
	}
	if err := verify(o.buffer.bytes(), pl.match); err != nil {
		return fmt.Errorf("get of %d bytes: %w", o.size, err)
	}
	return nil
}

// lastWindow returns the window that an endpoint has open, or nil.
func (w *World) lastWindow(of int) *window {
	if n := w.nodes[of]; n.engine != nil {
		return n.windows[len(n.windows)-1]
	}
	return nil
}
