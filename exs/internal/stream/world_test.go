package stream

import (
	"bytes"
	"fmt"
	"testing"
)

// world is both ends of one direction, joined by a transport as mx is: messages
// match in the order they were sent, and complete whenever they like.
type world struct {
	t testing.TB
	s Sender
	r Receiver

	toReceiver, toSender queue[packet]
	flying               []flight // matched, or announced, and not complete

	sends    map[ID]*memory
	receives map[ID]*memory
	posted   map[uint32]post
	buffer   []byte

	stream   []byte // what was sent and not consumed
	nextSend []ID   // the order in which they must finish
	nextRecv []ID
	lastID   ID

	eager      int // longer messages are announced
	aborting   bool
	hostile    bool
	verbs      [ToResize + 1]int
	lastStatus Status
	lastN      int
	finished   int
}

type memory struct {
	bytes []byte
	flags Flags
	over  bool // cancelled or aborted ones may finish out of turn
}

type packet struct {
	tell   bool
	m      Message
	direct bool
	number uint32
	id     ID
	off, n int
	data   []byte // of an eager one
}

type post struct {
	id     ID
	off, n int
}

type flight struct {
	packet
	landing bool
	to      post
	ticket  uint32
	at      int
	first   int
}

func newWorld(t testing.TB, c Config, eager int) *world {
	t.Helper()
	w := &world{
		t: t, eager: eager,
		sends: map[ID]*memory{}, receives: map[ID]*memory{}, posted: map[uint32]post{},
	}
	if err := w.s.Init(c); err != nil {
		t.Fatal(err)
	}
	if err := w.r.Init(c); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// send starts a send of n bytes that no other send has.
func (w *world) send(n int) ID {
	w.t.Helper()
	w.lastID++
	id := w.lastID
	m := &memory{bytes: make([]byte, n)}
	for i := range m.bytes {
		m.bytes[i] = byte(uint64(id)*151+uint64(i)*7) | 1
	}
	w.sends[id] = m
	w.nextSend = append(w.nextSend, id)
	w.must(w.s.Send(id, n))
	w.runSender()
	return id
}

func (w *world) receive(n int, f Flags) ID {
	w.t.Helper()
	w.lastID++
	id := w.lastID
	w.receives[id] = &memory{bytes: make([]byte, n), flags: f}
	w.nextRecv = append(w.nextRecv, id)
	w.must(w.r.Receive(id, n, f))
	w.runReceiver(nil)
	return id
}

func (w *world) cancelSend(id ID) bool {
	w.t.Helper()
	if m := w.sends[id]; m != nil {
		m.over = true
	}
	ok := w.s.Cancel(id)
	w.runSender()
	return ok
}

func (w *world) cancelReceive(id ID) bool {
	w.t.Helper()
	if m := w.receives[id]; m != nil {
		m.over = true
	}
	ok := w.r.Cancel(id)
	w.runReceiver(nil)
	return ok
}

func (w *world) shutdown() {
	w.t.Helper()
	w.s.Shutdown()
	w.runSender()
}

// runSender carries out the Sender's actions.
func (w *world) runSender() {
	w.t.Helper()
	var a Action
	for w.s.Next(&a) {
		w.verbs[a.Do]++
		switch a.Do {
		case ToSend:
			m := w.sends[a.ID]
			if m == nil || a.N <= 0 {
				w.t.Fatalf("message of %d bytes of send %d", a.N, a.ID)
			}
			p := packet{direct: a.Direct, number: a.Number, id: a.ID, off: a.Off, n: a.N}
			w.stream = append(w.stream, m.bytes[a.Off:a.Off+a.N]...)
			if a.N <= w.eager {
				p.data = bytes.Clone(m.bytes[a.Off : a.Off+a.N])
				w.s.Sent(a.ID)
			}
			limit := w.s.cfg.Segment
			if a.Direct {
				limit = w.s.cfg.Piece
			}
			if a.N > limit && !w.hostile {
				w.t.Fatalf("a message of %d bytes, %d are allowed", a.N, limit)
			}
			*w.toReceiver.push() = p
		case ToTell:
			if a.Tell.Kind.ForSender() {
				w.t.Fatalf("the Sender tells %+v", a.Tell)
			}
			*w.toReceiver.push() = packet{tell: true, m: w.coded(a.Tell)}
		case ToFinish:
			w.finish(w.sends, &w.nextSend, &a)
		default:
			w.t.Fatalf("the Sender wants %+v", a)
		}
	}
}

// coded sends a message through its code.
func (w *world) coded(m Message) (back Message) {
	w.t.Helper()
	var b [MessageSize]byte
	m.Encode(&b)
	w.must(Decode(&back, b[:]))
	if back != m {
		w.t.Fatalf("%+v became %+v", m, back)
	}
	return back
}

// finish checks an end, its order, and a receive's bytes.
func (w *world) finish(of map[ID]*memory, order *[]ID, a *Action) {
	w.t.Helper()
	m := of[a.ID]
	if m == nil {
		w.t.Fatalf("%d finishes twice, or never began", a.ID)
	}
	delete(of, a.ID)
	w.lastStatus, w.lastN = a.Status, a.N
	w.finished++
	at := 0
	for (*order)[at] != a.ID {
		at++
	}
	if at > 0 && !m.over && !w.aborting && !w.r.shut {
		w.t.Fatalf("%d finishes before %v", a.ID, (*order)[:at])
	}
	*order = append((*order)[:at], (*order)[at+1:]...)
	if a.Status != OK && !m.over && !w.aborting && !w.r.lost {
		w.t.Fatalf("%d finishes with status %d", a.ID, a.Status)
	}
	if order == &w.nextSend {
		if a.Status == OK && a.N != len(m.bytes) {
			w.t.Fatalf("send %d of %d bytes finishes with %d", a.ID, len(m.bytes), a.N)
		}
		for i := range m.bytes { // it is the user's again
			m.bytes[i] = 0
		}
		return
	}
	if w.aborting || w.r.shut {
		return
	}
	if !bytes.Equal(m.bytes[:a.N], w.stream[:min(a.N, len(w.stream))]) {
		w.t.Fatalf("receive %d got %x, sent was %x", a.ID, m.bytes[:a.N], w.stream[:min(a.N, len(w.stream))])
	}
	if m.flags&Peek == 0 {
		w.stream = w.stream[a.N:]
	}
	short := a.N < len(m.bytes) && (m.flags&WaitAll != 0 || a.N == 0)
	if m.flags&Peek != 0 && a.N > 0 && (a.N >= w.r.cfg.BufferMax || w.r.lost) { // there is no more for it
		short = false
	}
	if a.Status == OK && short && !w.r.fin {
		w.t.Fatalf("receive %d of %d bytes finishes with %d", a.ID, len(m.bytes), a.N)
	}
}

// runReceiver carries out the Receiver's actions, with a message in hand or not.
func (w *world) runReceiver(hand *packet) {
	w.t.Helper()
	var a Action
	for w.r.Next(&a) {
		w.verbs[a.Do]++
		switch a.Do {
		case ToFinish:
			w.finish(w.receives, &w.nextRecv, &a)
		case ToPost:
			if len(w.receives[a.ID].bytes) < a.Off+a.N || a.N <= 0 || a.N > w.r.cfg.Piece {
				w.t.Fatalf("impossible %+v", a)
			}
			w.posted[a.Number] = post{a.ID, a.Off, a.N}
		case ToUnpost:
			for i := range w.r.adverts.len() {
				if ad := w.r.adverts.at(i); ad.number == a.Number && ad.landed {
					w.t.Fatalf("receive %d is to be withdrawn after it has landed", a.Number)
				}
			}
			_, ok := w.posted[a.Number]
			delete(w.posted, a.Number)
			w.must(w.r.Unposted(a.Number, ok))
		case ToPlace:
			copy(w.place(a.ID, a.Off, a.N), hand.data[a.From:a.From+a.N])
		case ToStore:
			copy(w.buffer[a.At:a.At+a.N], hand.data[a.From:a.From+a.N])
		case ToFetch:
			if a.More > 0 && a.At+a.N != len(w.buffer) {
				w.t.Fatalf("%+v in a buffer of %d bytes", a, len(w.buffer))
			}
			w.flying = append(w.flying, flight{packet: *hand, ticket: a.Number, at: a.At, first: a.N})
		case ToCopy:
			copy(w.place(a.ID, a.Off, a.N), w.buffer[a.At:a.At+a.N])
		case ToResize:
			w.resize(&a)
		case ToTell:
			if !a.Tell.Kind.ForSender() {
				w.t.Fatalf("the Receiver tells %+v", a.Tell)
			}
			*w.toSender.push() = packet{tell: true, m: w.coded(a.Tell)}
		default:
			w.t.Fatalf("the Receiver wants %+v", a)
		}
	}
	w.bounds()
}

func (w *world) place(id ID, off, n int) []byte {
	w.t.Helper()
	m := w.receives[id]
	if m == nil {
		w.t.Fatalf("bytes for %d, which has finished", id)
	}
	return m.bytes[off : off+n]
}

func (w *world) resize(a *Action) {
	b := make([]byte, a.N)
	for i := range a.Len {
		b[i] = w.buffer[(a.At+i)%len(w.buffer)]
	}
	w.buffer = b
}

func (w *world) bounds() {
	w.t.Helper()
	r := &w.r
	most := max(r.cfg.BufferMax, 0)
	switch {
	case r.buffer.size != len(w.buffer):
		w.t.Fatalf("the buffer has %d bytes, %d were meant", len(w.buffer), r.buffer.size)
	case r.buffer.held > r.buffer.size:
		w.t.Fatalf("%d bytes in a buffer of %d", r.buffer.held, r.buffer.size)
	case r.buffer.size > most+r.cfg.MaxAdvertised || r.buffer.size > most && r.count.Strays == 0:
		w.t.Fatalf("a buffer of %d bytes after %d strays", r.buffer.size, r.count.Strays)
	case r.adverts.len() > r.cfg.Credits:
		w.t.Fatalf("%d adverts outstanding", r.adverts.len())
	case r.adverts.advertised > r.cfg.MaxAdvertised || r.adverts.advertised < 0:
		w.t.Fatalf("%d bytes advertised", r.adverts.advertised)
	case len(w.posted) > r.adverts.len():
		w.t.Fatalf("%d receives posted for %d adverts", len(w.posted), r.adverts.len())
	}
}

// match lets the next message arrive at the Receiver.
func (w *world) match() {
	w.t.Helper()
	p := *w.toReceiver.front()
	w.toReceiver.pop()
	if p.tell {
		w.must(w.r.Message(&p.m))
		w.runReceiver(nil)
		return
	}
	if to, ok := w.posted[p.number]; p.direct && ok {
		delete(w.posted, p.number)
		if p.n > to.n {
			w.t.Fatalf("%d bytes for an advert of %d", p.n, to.n)
		}
		w.flying = append(w.flying, flight{packet: p, landing: true, to: to})
		return
	}
	if w.r.dead { // nobody knows this connection
		if p.data == nil {
			w.s.Sent(p.id)
			w.runSender()
		}
		return
	}
	if p.data != nil {
		w.must(w.r.Here(p.direct, p.number, p.n))
	} else {
		w.must(w.r.Coming(p.direct, p.number, p.n))
	}
	w.runReceiver(&p)
}

// complete ends flight i: the bytes come, from the sender's memory unless they
// have left it.
func (w *world) complete(i int) {
	w.t.Helper()
	f := w.flying[i]
	w.flying = append(w.flying[:i], w.flying[i+1:]...)
	data := f.data
	if data == nil {
		data = bytes.Clone(w.sends[f.id].bytes[f.off : f.off+f.n])
		w.s.Sent(f.id)
		w.runSender()
	}
	if f.landing {
		copy(w.place(f.to.id, f.to.off, f.n), data)
		w.must(w.r.Landed(f.number, f.n))
	} else {
		n := copy(w.buffer[f.at:f.at+f.first], data)
		copy(w.buffer, data[n:])
		w.must(w.r.Fetched(f.ticket))
	}
	w.runReceiver(nil)
}

// hear lets the next message arrive at the Sender.
func (w *world) hear() {
	w.t.Helper()
	p := *w.toSender.front()
	w.toSender.pop()
	w.must(w.s.Message(&p.m))
	w.runSender()
}

// quiet lets everything arrive, and then checks that nobody waits in vain.
func (w *world) quiet() {
	w.t.Helper()
	for {
		switch {
		case len(w.flying) > 0:
			w.complete(0)
		case w.toReceiver.len() > 0:
			w.match()
		case w.toSender.len() > 0:
			w.hear()
		default:
			w.still()
			return
		}
	}
}

func (w *world) still() {
	w.t.Helper()
	s, r := &w.s, &w.r
	if r.dead || s.dead || r.shut {
		return
	}
	switch {
	case s.holding:
		w.t.Fatalf("%s: the sender holds for ever", w.state())
	case r.leaving > 0 || r.adverts.ghosts.len() > 0 || r.adverts.answers > 0 || r.adverts.asked:
		w.t.Fatal("a cancelled receive is not settled")
	case r.waiting.len() > 0 && !s.Idle():
		w.t.Fatalf("%s: %d receives wait and %d sends", w.state(), r.waiting.len(), s.sends.len())
	case r.waiting.len() > 0 && r.fin:
		w.t.Fatal("a receive waits behind the end")
	case !s.Idle() && s.cfg.buffered() && s.indirect < s.window:
		w.t.Fatalf("%s: sends wait though there is room", w.state())
	case !s.Idle() && s.cfg.buffered() && r.capacity < r.cfg.BufferMax:
		w.t.Fatalf("%s: sends wait though the buffer could grow", w.state())
	case s.shut && s.Idle() != r.fin:
		w.t.Fatal("the end has not arrived")
	case r.waiting.len() > 0 && r.buffer.held > 0 && !(r.waiting.front().peek() && r.waiting.front().all()):
		w.t.Fatal("bytes lie there, and a receive waits")
	}
}

func (w *world) state() string {
	s, r := &w.s, &w.r
	return fmt.Sprintf("sender: %d sends, %d adverts, epoch %d, direct %v, used %d, position %d, indirect %d of %d, hopeful %v, partial %v, "+
		"holding %v, asks %d; receiver: %d waiting, %d advertised, %d leaving, %d adverts, epoch %d, open %v, next %d, used %d, %d ghosts, "+
		"%d answers, asked %v, buffer %+v, position %d, freed %d of %d, granted %d, capacity %d, worth %d, ask %v %d, fin %v; config %+v",
		s.sends.len(), s.adverts.len(), s.epoch, s.direct, s.used, s.position, s.indirect, s.window, s.hopeful, s.partial,
		s.holding, s.asks, r.waiting.len(), r.offered, r.leaving, r.adverts.len(), r.adverts.epoch, r.adverts.open, r.adverts.next,
		r.adverts.used, r.adverts.ghosts.len(), r.adverts.answers, r.adverts.asked, r.buffer, r.position, r.freed, r.indirect, r.granted,
		r.capacity, r.worth, r.asked, r.ask, r.fin, s.cfg)
}
