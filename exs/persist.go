package exs

import (
	"encoding/binary"
	"sync/atomic"

	"gomx/exs/internal/life"
	"gomx/mx"
)

// lasting is memory of this side that a persistent operation lets the peer use (sections 4.2 and 4.3 of the second paper): a window
// of the endpoint, which is announced to the peer.
type lasting struct {
	s   *Socket
	o   *op
	win *mx.Window
	way int // what the peer's operations do with it

	announced bool          // the peer was told of it
	packets   atomic.Uint64 // packets that were sent before the peer knew of the memory, and were written to it
	coming    atomic.Bool   // another such packet is being fetched
	used      uint32        // notices that have arrived
	taken     uint32        // of the notices, those that the program has taken
	returned  uint32        // of the notices taken, those whose credits were returned to the peer
}

// notice is what an event about persistent memory refers to.
type notice struct {
	of     *lasting
	packet bool // it was written by a packet, which counts as taken now
}

// export begins a persistent operation.
func (s *Socket) export(o *op, way int) {
	x := s.specials()
	may := mx.WindowWrite
	if way == toRead {
		may = mx.WindowRead
	}
	win, err := s.l.ep.Load().OpenWindow(o.buf, may)
	if err != nil {
		s.finish(o, ENOBUFS)
		return
	}
	w := &lasting{s: s, o: o, win: win, way: way}
	x.near[way] = w
	s.look()
	s.moveSpecial()
}

// announce tells the peer of memory, when the packets that come before it have their places: those of receives that were started
// before, or of sends.
func (s *Socket) announce(w *lasting) {
	p := &s.packets
	switch {
	case w.announced:
		return
	case w.way == toWrite && p.wanted(), w.way == toRead && p.waiting.len()+len(s.files) > 0:
		return
	}
	w.announced = true
	var b [14]byte
	b[0] = byte(w.way)
	if w.o.flags&Notify != 0 {
		b[1] = 1
	}
	_, _ = w.win.Handle().AppendBinary(b[:2])
	_ = s.sendControl(ctlExport, b[:])
	if w.way == toWrite {
		s.sendNumber(ctlFed, p.next)
	}
}

// look chooses what PollPersistent looks at.
func (s *Socket) look() {
	w := s.special.near[toWrite]
	if w == nil {
		w = s.special.near[toRead]
	}
	s.lasting.Store(w)
}

// conceal ends persistent operations of one way, at once.
func (s *Socket) conceal(way int, n Errno) {
	if s.special == nil {
		return
	}
	s.leaveAll(way)
	if w := s.hide(way); w != nil {
		s.shut(w, n)
	}
}

// hide withdraws memory of this side, and notifies the peer.
func (s *Socket) hide(way int) *lasting {
	w := s.special.near[way]
	if w == nil {
		return nil
	}
	s.special.near[way] = nil
	s.look()
	if s.fate == 0 && w.announced {
		_ = s.sendControl(ctlHide, []byte{byte(way)})
	}
	return w
}

// shut ends a persistent operation. Its event comes when the memory belongs to the program again, which may take until a device has
// finished with it.
func (s *Socket) shut(w *lasting, n Errno) {
	x := s.special
	x.ending[w.way]++
	s.l.start(func() {
		_ = w.win.Close() // an endpoint that is closed has no windows
		s.mu.Lock()
		defer s.mu.Unlock()
		x.ending[w.way]--
		s.finish(w.o, n)
		s.settle()
	})
}

// takeHome cancels a persistent operation for the program. The peer may be writing at the moment, with puts that are not
// acknowledged, or may have sent a notice. So the memory remains until the peer has acknowledged that it was withdrawn. By then
// the memory has what the peer sent before, and what the peer sends later arrives as packets.
func (s *Socket) takeHome(o *op) bool {
	x := s.special
	for way := range x.near {
		w := x.near[way]
		if w == nil || w.o != o {
			continue
		}
		s.hide(way)
		if w.announced {
			x.leaving[way] = append(x.leaving[way], w)
		} else {
			s.shut(w, ECANCELED)
		}
		return true
	}
	return false
}

// left ends the oldest persistent operation of one way that was cancelled, unless it has ended with the connection.
func (s *Socket) left(way int) {
	if l := &s.special.leaving[way]; len(*l) > 0 {
		w := (*l)[0]
		*l = (*l)[1:]
		s.shut(w, ECANCELED)
	}
}

// leaveAll ends the persistent operations of one way that were cancelled, since the peer uses none of them any more.
func (s *Socket) leaveAll(way int) {
	for s.special != nil && len(s.special.leaving[way]) > 0 {
		s.left(way)
	}
}

// leaves reports whether memory of one way was taken back whose event has not come.
func (x *special) leaves(way int) bool { return len(x.leaving[way])+x.ending[way] > 0 }

// PollPersistent makes one pass of the library's progress, and returns how often the peer
// has written to the persistent receive of this socket or, without one, how often it has read from the persistent send. It never
// waits. The data of the writes that it has counted may be read. It is the cheapest way to learn of new data: it needs no
// receive, no completion and no event. Errors: EINVAL without a persistent operation, ENOTCONN, ECONNRESET, EBADF,
// ENETDOWN if the library is closed.
func (s *Socket) PollPersistent() (uint64, error) {
	if s.none() {
		return 0, s.fail("poll persistent memory", EBADF)
	}
	w := s.lasting.Load()
	if w == nil {
		return 0, s.nothingLasts()
	}
	if w.coming.Load() {
		s.l.waitIn(&s.list, w, 0)
	}
	puts, gets, err := w.win.Poll()
	if err != nil {
		return 0, s.named(failed("poll persistent memory", err, ENETDOWN))
	}
	if w.way == toRead {
		return gets, nil
	}
	return puts + w.packets.Load(), nil
}

func (s *Socket) nothingLasts() error {
	if n := s.lockFor(life.Recv); n != 0 {
		return s.fail("poll persistent memory", n)
	}
	defer s.mu.Unlock()
	if s.fate != 0 {
		return s.naming(fail("poll persistent memory", ECONNRESET))
	}
	return s.naming(wrong("poll persistent memory", "the socket has no persistent operation"))
}

// ready ends the wait for a packet that is being fetched.
func (w *lasting) ready() bool { return !w.coming.Load() }

// feed writes packets to a persistent receive that were sent before the peer knew of it.
func (s *Socket) feed(w *lasting) {
	next := s.packets.next
	s.feedHeld(w)
	if w.announced && s.packets.next != next {
		s.sendNumber(ctlFed, s.packets.next)
	}
	held := s.packets.held
	if coming := len(held) > 0 && held[0].coming; coming != w.coming.Load() {
		w.coming.Store(coming)
	}
}

func (s *Socket) feedHeld(w *lasting) {
	p := &s.packets
	for len(p.held) > 0 && !p.wanted() && !p.held[0].coming {
		if p.held[0].data == nil {
			s.fetchHeld()
			return
		}
		h := s.unhold()
		p.next++
		n := copy(w.o.buf, h.data)
		s.special.drop(h.data)
		w.packets.Add(1)
		if w.o.flags&Notify == 0 {
			s.took()
			continue
		}
		s.tell1(w, Event{Length: n, AmountLost: h.length - n, notice: notice{w, true}})
	}
}

// tell1 makes an event about the use of persistent memory.
func (s *Socket) tell1(w *lasting, e Event) {
	e.Type = EvtRead
	if w.way == toWrite {
		e.Type = EvtWritten
	}
	o := w.o
	e.Socket, e.AHandle, e.Buffer, e.Memory = s, o.ahandle, o.buf, o.mem
	q := o.q
	q.mu.Lock()
	if at := q.next(); at != nil {
		*at = e
		q.added()
	}
	q.mu.Unlock()
	q.list.wake()
}

// noticed handles events that the program has taken.
func noticed(events []Event) {
	for i := range events {
		if n := events[i].notice; n.of != nil {
			events[i].notice = notice{}
			n.of.noticed(n.packet)
		}
	}
}

// noticed returns credits for notices that were taken, before the peer has to wait for them.
func (w *lasting) noticed(packet bool) {
	s := w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case packet:
		s.took()
	default:
		w.taken++
		if s.special.near[w.way] == w && w.taken-w.returned >= max(1, s.packets.window/2) {
			w.returned = w.taken
			var b [5]byte
			b[0] = byte(w.way)
			binary.LittleEndian.PutUint32(b[1:], w.taken)
			_ = s.sendControl(ctlSeen, b[:])
		}
	}
	s.settle()
}

// heardUse handles a notice that the peer has used persistent memory.
func (s *Socket) heardUse(way int, at, n uint32) bool {
	w := s.special.near[way]
	if l := s.special.leaving[way]; len(l) > 0 {
		w = l[0] // the peer uses no other yet
	}
	if w == nil {
		return true // it has ended meanwhile
	}
	w.used++
	if w.o.flags&Notify == 0 || w.used-w.taken > s.packets.window || uint64(at)+uint64(n) > uint64(len(w.o.buf)) {
		return false
	}
	s.tell1(w, Event{Offset: int(at), Length: int(n), notice: notice{of: w}})
	return true
}
