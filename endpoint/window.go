package endpoint

import (
	"fmt"
	"slices"
	"strings"

	"gomx/transport/wire"
)

// Permission says what peers may do with a window.
type Permission uint8

// The permissions.
const (
	MayRead  Permission = 1 << iota // get, and learn by an atomic what is there
	MayWrite                        // put, and change by an atomic what is there
)

// MaxWindows is how many windows an endpoint has at once.
const MaxWindows = 1 << windowSlotBits

// The name of a window is its slot and a key that peers can't guess: who knows it
// has been told.
//
//	63         16 15    0
//	+------------+-------+
//	|    key     | slot  |
//	+------------+-------+
const windowSlotBits = 16

func windowSlot(id uint64) uint64 { return id % MaxWindows }

// memoryWindow is memory that peers read and write by its name.
type memoryWindow struct {
	mem  []byte
	id   uint64 // the last one, if it is neither open nor shut
	may  Permission
	open bool
	shut bool // closed, and yet in use
	busy int  // operations of peers that may touch the memory

	puts, gets uint64   // that have been carried out
	counter    *counter // of the puts, or nil
}

type windows struct {
	slots []memoryWindow
	free  []uint16
}

func (s *windows) live() int { return len(s.slots) - len(s.free) }

// at returns the window of that name, open or shut, or nil.
func (s *windows) at(id uint64) *memoryWindow {
	if slot := windowSlot(id); slot < uint64(len(s.slots)) {
		if w := &s.slots[slot]; w.id == id && (w.open || w.shut) {
			return w
		}
	}
	return nil
}

// OpenWindow lets peers read and write memory, as far as they may, and returns
// the name by which they do. The key must be random. Errors: ErrBadSegMem for
// memory that is too large, ErrNoResources if MaxWindows are in use.
func (e *Engine) OpenWindow(mem []byte, may Permission, key uint64) (uint64, error) {
	s := &e.windows
	if uint64(len(mem)) > MaxMessage {
		return 0, ErrBadSegMem
	}
	if len(s.free) == 0 {
		if len(s.slots) == MaxWindows {
			return 0, ErrNoResources
		}
		s.free = append(s.free, uint16(len(s.slots)))
		s.slots = append(s.slots, memoryWindow{})
	}
	slot := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	w := &s.slots[slot]
	id := key<<windowSlotBits | uint64(slot)
	for id == w.id || id>>windowSlotBits == 0 {
		id += MaxWindows
	}
	*w = memoryWindow{mem: mem, id: id, may: may, open: true}
	return id, nil
}

// CloseWindow ends a window: what peers do with it is refused from now on, and
// what they have under way is ended. Its memory is the user's again when it is not
// WindowBusy any more. False: there is no such window, or it is closed already.
func (e *Engine) CloseWindow(id uint64) bool {
	w := e.windows.at(id)
	if w == nil || !w.open {
		return false
	}
	w.open, w.shut = false, true
	w.busy++ // so that it is not freed meanwhile
	if w.busy > 1 {
		e.eachRequest(func(slot int32, r *request) {
			if r.window == id && (r.kind == kindPutIn || r.kind == kindGetOut) && r.state != stateComplete {
				e.withdraw(slot, r, wire.NoWindow)
			}
		})
	}
	e.unpin(id)
	return true
}

// WindowState is what may be told of a window: not its name, which only those know who were told.
type WindowState struct {
	Bytes      int
	May        Permission
	Closed     bool   // and a link may still touch the memory
	Busy       int    // operations of peers that may touch the memory
	Puts, Gets uint64 // that have been carried out
}

// Windows returns at most so many windows that are open, or closed and in use.
func (e *Engine) Windows(most int) []WindowState {
	list := make([]WindowState, 0, min(most, e.windows.live()))
	for i := range e.windows.slots {
		w := &e.windows.slots[i]
		if len(list) == most {
			break
		}
		if w.open || w.shut {
			list = append(list, WindowState{len(w.mem), w.may, w.shut, w.busy, w.puts, w.gets})
		}
	}
	return list
}

// WindowBusy reports whether a link may still touch the memory of a window that
// has been closed: until PullFinished, or until the link is gone.
func (e *Engine) WindowBusy(id uint64) bool { return e.windows.at(id) != nil }

// DenyWindows refuses, from now on and whatever the session, what an endpoint asks of our windows, in any of its contexts, and ends
// what it has under way there.
func (e *Engine) DenyWindows(nic uint64, endpoint uint32) {
	at, own := address{nic, endpoint}, e.peers[0]
	if slices.Contains(e.denied, at) || own.isContextOf(at, e.cfg.Contexts) {
		return
	}
	e.denied = append(e.denied, at)
	for _, p := range e.peers {
		p.denied = e.denies(p)
	}
	e.eachRequest(func(slot int32, r *request) {
		if (r.kind == kindPutIn || r.kind == kindGetOut) && r.state != stateComplete && e.peers[r.peer].denied {
			e.withdraw(slot, r, wire.NotPermitted)
		}
	})
}

// denies reports whether our windows are not for the endpoint of which the peer is a context.
func (e *Engine) denies(p *peer) bool {
	return slices.ContainsFunc(e.denied, func(at address) bool { return p.isContextOf(at, p.contexts) })
}

// isContextOf reports whether an address is that of the endpoint with the contexts of which the peer is one, or of another one of these.
func (p *peer) isContextOf(at address, c wire.Contexts) bool {
	return at.nic == p.at.nic && at.endpoint-(p.at.endpoint-uint32(c.Index)) < uint32(c.Count())
}

// reach returns n bytes of a window from an offset on, or why a peer gets none.
func (e *Engine) reach(p *peer, id uint64, at, n uint32, need Permission) (mem []byte, disposition uint32) {
	w := e.windows.at(id)
	end := uint64(at) + uint64(n)
	switch {
	case w == nil || w.shut:
		disposition = wire.NoWindow
	case w.may&need != need, p.denied:
		disposition = wire.NotPermitted
	case end > uint64(len(w.mem)):
		disposition = wire.OutOfRange
	default:
		return w.mem[at:end:end], wire.Taken
	}
	e.count.NoAccess++
	return nil, disposition
}

// unpin notes that an operation is done with the memory of a window.
func (e *Engine) unpin(id uint64) {
	w := e.windows.at(id)
	if w.busy--; w.busy == 0 && w.shut {
		w.shut, w.mem = false, nil
		e.windows.free = append(e.windows.free, uint16(windowSlot(id)))
	}
}

// uncount takes a counter away from the windows.
func (s *windows) uncount(c *counter) {
	for i := range s.slots {
		if s.slots[i].counter == c {
			s.slots[i].counter = nil
		}
	}
}

func (s *windows) dump(b *strings.Builder) {
	for i := range s.slots {
		w := &s.slots[i]
		switch {
		case w.open:
			fmt.Fprintf(b, "window %d bytes %d in use by %d\n", i, len(w.mem), w.busy)
		case w.shut:
			fmt.Fprintf(b, "window %d closed, in use by %d\n", i, w.busy)
		}
	}
}
