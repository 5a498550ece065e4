package sim

import (
	"encoding/binary"
	"fmt"

	"gomx/endpoint"
	"gomx/transport/wire"
)

// Atomics. Behind the places of a window lies a number to which all programs add 1, by fetch-and-add, by an add with a request and
// by one without. In the end the number is that of the additions, none more and none less; where sessions have ended, it lies between those that are
// known to have been made and those that may have been. No two programs ever fetch the same number.
const (
	numberSize  = 8
	mostAtomics = 4 // that a program has under way towards a peer
)

var addOne = wire.AtomicWhat{Op: wire.AtomicSum, Type: wire.AtomicInt64}

// additions is what is known of the number in a window.
type additions struct {
	started, done, refused uint64
	now                    map[int]uint64 // by program: without a request
	fetched                map[uint64]bool
	last                   uint64 // the number when the window was free
}

// number returns the number in a window.
func (win *window) number() uint64 {
	return binary.NativeEndian.Uint64(win.mem[len(win.mem)-numberSize:])
}

// addTo begins an addition to the number of a peer.
func (n *node) addTo(to int) bool {
	w := n.w
	at, target := &n.peers[to], w.nodes[to]
	if at.atomics == mostAtomics || target.engine == nil {
		return false
	}
	win := target.windows[len(target.windows)-1]
	place := uint32(len(win.mem) - numberSize)
	how := n.rng.IntN(3)
	win.started++
	w.report.Atomics++
	if how == 0 {
		var one [numberSize]byte
		binary.NativeEndian.PutUint64(one[:], 1)
		sent, err := n.engine.AtomicNow(addOne, one[:], at.addr, win.id, place)
		if err != nil {
			w.fail(n, "atomic: %v", err)
		}
		if sent {
			win.now[n.index]++
		} else {
			win.refused++
		}
		return sent
	}
	what := addOne
	what.Fetch = how == 1
	o := w.newOp(n, opAtomic)
	o.peer, o.window, o.fetch = to, win, what.Fetch
	o.buffer = w.buffers.take(numberSize)
	binary.NativeEndian.PutUint64(o.buffer.bytes(), 1)
	at.atomics++
	var err error
	if o.handle, err = n.engine.Atomic(what, o.buffer.bytes(), at.addr, win.id, place, 0, o); err != nil {
		w.fail(n, "atomic: %v", err)
	}
	return true
}

// added checks what an addition says.
func (n *node) added(o *op, st *endpoint.Status) error {
	at, win := &n.peers[o.peer], o.window
	at.atomics--
	switch {
	case st.MsgLength != numberSize:
		return fmt.Errorf("an atomic of %d bytes gets the status %+v", numberSize, *st)
	case st.Code == endpoint.Success:
		win.done++
		if st.XferLength != numberSize {
			return fmt.Errorf("atomic: success with %d of %d bytes", st.XferLength, numberSize)
		}
	case st.Code == endpoint.BadRDMAWindow && win.closed:
		win.refused++
		return nil
	case st.Code == endpoint.BadRDMAWindow && n.w.spoiled(n.index, o.peer):
		win.refused++ // it is that of another life
		return nil
	case !n.w.spoiled(n.index, o.peer) || int(st.Code) >= len(endings) || !endings[st.Code]:
		return fmt.Errorf("atomic: %v without reason", st.Code)
	default:
		n.w.report.Failed++
		if at.addr == st.Source {
			at.connected = false
		}
		return nil
	}
	if err := o.buffer.guarded(); err != nil {
		return fmt.Errorf("atomic: %w", err)
	}
	if !o.fetch {
		return nil
	}
	was := binary.NativeEndian.Uint64(o.buffer.bytes())
	if was >= win.started || win.fetched[was] {
		return fmt.Errorf("an addition fetches %d, of %d that were started, twice: %v", was, win.started, win.fetched[was])
	}
	win.fetched[was] = true
	return nil
}

// checkNumber looks whether a window has the number that its additions make. Settled says that all have ended.
func (n *node) checkNumber(win *window, number uint64, settled bool) {
	least, most := win.done, win.started-win.refused
	for from, now := range win.now {
		if settled && !win.closed && !n.w.spoiled(from, n.index) {
			least += now
		}
	}
	if number < least || number > most {
		n.w.fail(n, "the number in a window is %d after %d to %d additions", number, least, most)
	}
}
