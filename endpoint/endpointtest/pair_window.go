package endpointtest

import (
	"bytes"
	"errors"
	"fmt"

	"gomx/endpoint"
	"gomx/transport/wire"
)

// Puts and gets of a Pair. A window of a side is for the other side alone:
//
//	| hot: every small put goes here | cold: never written | room for the larger puts, one behind the other |
//
// Small puts keep their order, so what is in the hot place tells which was the last.
const (
	hotSize   = 16
	coldSize  = 50000
	coldSeed  = 99
	roomBegin = hotSize + coldSize
	roomSize  = 300000
)

// pairWindow is a window of one side.
type pairWindow struct {
	id     uint64
	buffer *Buffer
	next   int    // free room
	hot    int    // the last put into the hot place
	closed bool   // so puts and gets may be refused
	after  []byte // its memory when it was free; nil: it is not known to be
}

// pairAccess is a put or get.
type pairAccess struct {
	isGet    bool
	size, at int
	seed     int // puts: the contents; gets of the hot place: the put that they must see
	window   *pairWindow
	buffer   *Buffer
	handle   endpoint.Handle
	ended    bool
}

func (s *pairSide) window() *pairWindow { return s.windows[len(s.windows)-1] }

func (p *Pair) openWindow(s *pairSide) {
	w := &pairWindow{buffer: NewBuffer(roomBegin + roomSize), next: roomBegin}
	clear(w.buffer.Vec.First[:hotSize])
	Fill(&wire.Vec{First: w.buffer.Vec.First[hotSize:roomBegin]}, coldSeed)
	id, err := s.node.Engine.OpenWindow(w.buffer.Vec.First, endpoint.MayRead|endpoint.MayWrite, uint64(len(s.windows)+1))
	if err != nil {
		panic(err)
	}
	w.id = id
	s.windows = append(s.windows, w)
}

// access begins a put or get of one side, or closes the window of the other.
func (p *Pair) access(side int, how byte) error {
	s, far := &p.side[side], &p.side[1-side]
	addr, ok := s.node.Engine.AddrOf(s.node.PeerOf(far.node))
	if !ok {
		return nil
	}
	w := far.window()
	if how&31 == 31 {
		p.closeWindow(far)
		if far.node.Engine.CloseWindow(w.id) {
			return errors.New("a window is closed twice")
		}
		return nil
	}
	x := &pairAccess{isGet: how&16 != 0, window: w, size: pairSizes[int(how&15)%len(pairSizes)]}
	if how&32 != 0 {
		x.size = hotSize
	}
	switch {
	case how&32 != 0:
		x.seed = w.hot
		if !x.isGet {
			w.hot++
			x.seed = w.hot
		}
	case x.isGet:
		x.at, x.seed, x.size = hotSize, coldSeed, min(x.size, coldSize)
	default:
		x.at, x.seed = w.next, len(s.accesses)
		w.next += x.size
	}
	x.buffer = NewBuffer(x.size/3, x.size-x.size/3)
	if how&64 != 0 {
		x.buffer = NewBuffer(x.size)
	}
	var err error
	if how&32 != 0 && how&8 != 0 && !x.isGet && p.write(s, x, addr) {
		return nil
	}
	if x.isGet {
		x.handle, err = s.node.Engine.Get(x.buffer.Vec, addr, w.id, uint32(x.at), 0, x)
	} else {
		Fill(&x.buffer.Vec, x.seed)
		x.handle, err = s.node.Engine.Put(x.buffer.Vec, addr, w.id, uint32(x.at), 0, x)
	}
	s.accesses = append(s.accesses, x)
	return err
}

// write puts into the hot place without a request, if that can leave now.
func (p *Pair) write(s *pairSide, x *pairAccess, to endpoint.Addr) bool {
	b := make([]byte, x.size)
	Fill(&wire.Vec{First: b}, x.seed)
	sent, err := s.node.Engine.Write(b, to, x.window.id, uint32(x.at))
	clear(b)
	return sent && err == nil
}

// closeWindow closes the window of a side and opens another.
func (p *Pair) closeWindow(s *pairSide) {
	w := s.window()
	if !s.node.Engine.CloseWindow(w.id) {
		panic("endpointtest: an open window can't be closed")
	}
	w.closed = true
	s.look()
	p.openWindow(s)
}

// look takes down the memory of closed windows as soon as no link uses it.
func (s *pairSide) look() {
	for _, w := range s.windows {
		if w.closed && w.after == nil && !s.node.Engine.WindowBusy(w.id) {
			w.after = bytes.Clone(w.buffer.Vec.First)
		}
	}
}

func (p *Pair) collectAccesses(s *pairSide) error {
	for i, x := range s.accesses {
		var st endpoint.Status
		done, err := s.node.Engine.Test(x.handle, &st)
		if e := once(done, err, &x.ended); e != nil {
			return fmt.Errorf("%v access %d: %w", s.node, i, e)
		}
		if done {
			if err := p.checkAccess(x, &st); err != nil {
				return fmt.Errorf("%v access %d, get %v, of %d bytes at %d: %w", s.node, i, x.isGet, x.size, x.at, err)
			}
		}
	}
	p.side[0].look()
	p.side[1].look()
	return nil
}

func (p *Pair) checkAccess(x *pairAccess, st *endpoint.Status) error {
	beyond := x.at+x.size > roomBegin+roomSize
	switch {
	case st.Context != x || int(st.MsgLength) != x.size:
		return fmt.Errorf("status %+v is of another request", *st)
	case st.Code != endpoint.Success && st.XferLength != 0:
		return fmt.Errorf("%v with %d bytes", st.Code, st.XferLength)
	case st.Code == endpoint.BadRDMARange && beyond, st.Code == endpoint.BadRDMAWindow && x.window.closed:
		return nil
	case st.Code != endpoint.Success && !p.stale:
		return fmt.Errorf("%v without reason", st.Code)
	case st.Code != endpoint.Success:
		return nil
	case beyond || int(st.XferLength) != x.size:
		return fmt.Errorf("success with %d of %d bytes, beyond %v", st.XferLength, x.size, beyond)
	case x.isGet:
		return p.checkGot(x)
	}
	return nil
}

// checkGot checks the bytes of a get. In the hot place are those of the last put that
// was begun before it, or of a later one; earlier ones only if a session has ended.
func (p *Pair) checkGot(x *pairAccess) error {
	if x.at != 0 {
		return x.buffer.Check(x.seed, x.size)
	}
	got := make([]byte, x.size)
	x.buffer.Vec.Gather(got, 0)
	least := x.seed
	if p.stale {
		least = 0
	}
	for seed := least; seed <= x.window.hot; seed++ {
		if seed == 0 && bytes.Equal(got, make([]byte, hotSize)) || seed > 0 && x.buffer.Check(seed, x.size) == nil {
			return nil
		}
	}
	return fmt.Errorf("the hot place has %x, of no put from %d to %d", got, least, x.window.hot)
}

// checkWindows looks at what far's windows hold of the puts of s, in the end.
func (p *Pair) checkWindows(s, far *pairSide) error {
	for i, w := range far.windows {
		if w.closed && w.after == nil {
			return fmt.Errorf("window %d of the peer stays busy", i)
		}
		if w.closed && !bytes.Equal(w.after, w.buffer.Vec.First) {
			return fmt.Errorf("window %d of the peer was written after it was closed", i)
		}
		if err := w.buffer.CheckAround(); err != nil {
			return fmt.Errorf("window %d of the peer: %w", i, err)
		}
		cold := wire.Vec{First: w.buffer.Vec.First[hotSize:roomBegin]}
		if err := holds(&cold, coldSeed); err != nil {
			return fmt.Errorf("window %d of the peer: %w", i, err)
		}
	}
	for i, x := range s.accesses {
		if x.isGet || x.window.closed || p.stale || x.at+x.size > roomBegin+roomSize {
			continue
		}
		if x.at == 0 && x.seed != x.window.hot {
			continue
		}
		there := wire.Vec{First: x.window.buffer.Vec.First[x.at : x.at+x.size]}
		if err := holds(&there, x.seed); err != nil {
			return fmt.Errorf("put %d at %d: %w", i, x.at, err)
		}
	}
	return nil
}

func holds(v *wire.Vec, seed int) error {
	for i, c := range v.First {
		if want := byteOf(seed, i); c != want {
			return fmt.Errorf("byte %d in the window is %#x, want %#x", i, c, want)
		}
	}
	return nil
}
