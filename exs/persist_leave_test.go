package exs_test

import (
	"errors"
	"testing"
	"time"

	"gomx/exs"
	"gomx/internal/testlength"
)

// What is sent while the peer takes its memory back is in that memory when its event comes, and
// what is sent afterwards comes as packets: nothing that has ended as success is lost.
func TestSendAsMemoryLeaves(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		for _, flags := range []exs.Flags{0, exs.Notify} {
			for _, late := range [][]byte{[]byte("late"), pattern(300_000, 1)} {
				p := w.connect(typ)
				field := make([]byte, 50+len(late))
				p.persist(p.b, p.qb, field, true, flags)
				p.known(p.b, p.a)
				p.sendsBeforeHide(late)
				if n, err := p.b.Cancel("lasting", 0); n != 1 || err != nil {
					w.Fatalf("%d cancelled, %v", n, err)
				}
				if n, err := p.b.Cancel("lasting", 0); n != 0 || err != nil {
					w.Fatalf("%d cancelled again, %v", n, err)
				}
				if flags == exs.Notify {
					p.written(field, len(late))
				}
				p.event(p.qb, exs.EvtRecv, exs.ECANCELED)
				p.same(field[50:], late)
				p.event(p.qa, exs.EvtSend, 0)
				p.send(p.a, p.qa, []byte("a packet"), 0)
				p.gets([]byte("a packet"))
			}
		}
	})
}

// sendsBeforeHide has a send to offset 50, with an event, whenever a learns that its peer takes memory back.
func (p *pair) sendsBeforeHide(b []byte) {
	p.Helper()
	p.ok(p.here.BeforeHide(func() {
		if _, err := p.a.SendOffset(b, 50, 0, p.qa, nil, nil); err != nil {
			p.Error(err)
		}
	}))
}

// written wants the notice of a send to offset 50 of a memory.
func (p *pair) written(field []byte, n int) {
	p.Helper()
	e := p.event(p.qb, exs.EvtWritten, 0)
	if e.Offset != 50 || e.Length != n || &e.Buffer[0] != &field[0] {
		p.Errorf("%d bytes at %d, of the memory that is meant: %v", e.Length, e.Offset, &e.Buffer[0] == &field[0])
	}
}

// Memory that is there before a large send to the memory before it has ended is for what is sent later.
func TestMemoryAfterMemoryThatLeaves(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ)
		late := pattern(300_000, 1)
		var fields [3][]byte
		for i := range fields {
			fields[i] = make([]byte, 50+len(late))
		}
		sent := false
		w.ok(p.here.BeforeHide(func() {
			if sent {
				return
			}
			sent = true
			if _, err := p.a.SendOffset(late, 50, 0, p.qa, nil, nil); err != nil {
				p.Error(err)
			}
		}))
		p.persist(p.b, p.qb, fields[0], true, exs.Notify)
		p.known(p.b, p.a)
		for _, field := range fields[1:] {
			if n, err := p.b.Cancel("lasting", 0); n != 1 || err != nil {
				w.Fatalf("%d cancelled, %v", n, err)
			}
			p.persist(p.b, p.qb, field, true, exs.Notify)
		}
		p.written(fields[0], len(late))
		for range 2 {
			p.event(p.qb, exs.EvtRecv, exs.ECANCELED)
		}
		p.same(fields[0][50:], late)
		p.event(p.qa, exs.EvtSend, 0)
		p.send(p.a, p.qa, []byte("new"), 0)
		if e := p.event(p.qb, exs.EvtWritten, 0); e.Length != 3 || &e.Buffer[0] != &fields[2][0] {
			w.Errorf("%d bytes", e.Length)
		}
		p.same(fields[2][:3], []byte("new"))
		p.same(fields[2][50:], make([]byte, len(late)))
		p.same(fields[1], make([]byte, len(fields[1])))
	})
}

// A persistent receive that is being cancelled ends, however the connection does.
func TestMemoryLeavesAtTheEnd(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		for _, how := range []string{"close", "reset", "peer closes", "another"} {
			p := w.connect(typ)
			field := make([]byte, 100)
			p.persist(p.b, p.qb, field, true, 0)
			p.known(p.b, p.a)
			again := false
			w.ok(p.here.BeforeHide(func() {
				if again || how == "another" {
					return
				}
				again = true
				switch how {
				case "close":
					p.ok(p.b.Close(0, p.qb, nil))
				case "reset":
					p.ok(p.b.Close(exs.DontLinger, p.qb, nil))
				case "peer closes":
					p.ok(p.a.Close(0, p.qa, nil))
				}
			}))
			if n, err := p.b.Cancel("lasting", 0); n != 1 || err != nil {
				w.Fatalf("%d cancelled, %v", n, err)
			}
			if how == "another" { // before the first one has left
				p.persist(p.b, p.qb, field, true, 0)
				p.event(p.qb, exs.EvtRecv, exs.ECANCELED)
				p.send(p.a, p.qa, []byte("new"), 0)
				p.used(p.b, 1)
				p.same(field[:3], []byte("new"))
				continue
			}
			for range 2 { // in whatever order
				var e [1]exs.Event
				if n, err := p.qb.Dequeue(e[:], bound); n != 1 && how != "peer closes" || err != nil {
					w.Fatalf("%s: %d events, %v", how, n, err)
				}
				if e[0].Type == exs.EvtRecv && e[0].Errno != exs.ECANCELED {
					w.Errorf("%s: %v", how, e[0].Errno)
				}
				if how == "peer closes" {
					break
				}
			}
		}
	})
}

// The notice of a read of memory that the program takes back just then is not one of the memory that comes after it.
func TestNoticeAsMemoryLeaves(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		for _, flags := range []exs.Flags{exs.Notify, 0} {
			p := w.connect(typ)
			first, second := pattern(1000, 1), pattern(10, 2)
			p.persist(p.a, p.qa, first, false, exs.Notify)
			done := false
			w.ok(p.here.BeforeUsed(func() {
				if done {
					return
				}
				done = true
				if n, err := p.a.Cancel("lasting", 0); n != 1 || err != nil {
					p.Errorf("%d cancelled, %v", n, err)
				}
				p.persist(p.a, p.qa, second, false, flags)
			}))
			in := make([]byte, 1000)
			_, err := p.b.RecvOffset(in, 0, exs.Block, nil, nil, nil)
			p.ok(err)
			p.same(in, first)
			for e := p.event(p.qa, exs.EvtRead, 0); &e.Buffer[0] != &first[0]; {
				t.Fatalf("a notice of %d bytes of the second memory", e.Length)
			}
			p.event(p.qa, exs.EvtSend, exs.ECANCELED)
			n, err := p.b.RecvOffset(in[:10], 0, exs.Block, nil, nil, nil)
			p.ok(err)
			p.same(in[:n], second)
			if flags == exs.Notify {
				if e := p.event(p.qa, exs.EvtRead, 0); &e.Buffer[0] != &second[0] || e.Length != 10 {
					t.Errorf("a notice of %d bytes", e.Length)
				}
			}
			p.none(p.qa)
		}
	})
}

// TestSendBehindMemoryThatLeaves: a packet is not sent until nobody reads the memory that was taken back before it, and the event
// says so.
func TestSendBehindMemoryThatLeaves(t *testing.T) {
	testlength.Long(t)
	over(t, packets, func(w *world, typ int) {
		for range 20 {
			p := w.connect(typ)
			p.persist(p.a, p.qa, pattern(100, 1), false, 0)
			if n, err := p.a.Cancel("lasting", 0); n != 1 || err != nil {
				w.Fatalf("%d cancelled, %v", n, err)
			}
			packet := []byte{1, 2, 3}
			for {
				if _, err := p.a.Send(packet, exs.Block, nil, nil, nil); err == nil {
					break
				} else if !errors.Is(err, exs.EBUSY) {
					w.Fatal(err)
				}
				time.Sleep(time.Millisecond)
			}
			var e [1]exs.Event
			if n, err := p.qa.Dequeue(e[:], 0); n != 1 || err != nil || e[0].Errno != exs.ECANCELED {
				w.Fatalf("%d events, %v, when another send begins; the first has error %v", n, err, e[0].Errno)
			}
			in := make([]byte, 10)
			n, err := p.b.Recv(in, exs.Block, nil, nil, nil)
			p.ok(err)
			p.same(in[:n], packet)
		}
	})
}

// A read of memory of a peer that does nothing ends with the connection, and its own memory is free.
func TestResetDuringARead(t *testing.T) {
	for _, medium := range media[1:] {
		t.Run(medium, func(t *testing.T) {
			w := newWorld(t, medium)
			for _, n := range []int{100, 1 << 20} {
				p := w.connect(exs.SeqPacket)
				p.persist(p.b, p.qb, pattern(n, 1), false, 0)
				_, err := p.a.RecvOffset(make([]byte, 1), 0, exs.Block, nil, nil, nil) // which waits until a knows of it
				p.ok(err)
				m, err := w.here.Register(make([]byte, n), 0)
				p.ok(err)
				goOn := w.still(w.there)
				_, err = p.a.RecvOffset(m.Bytes(), 0, 0, p.qa, nil, m)
				p.ok(err)
				p.ok(p.a.Close(exs.DontLinger, p.qa, nil))
				p.event(p.qa, exs.EvtRecv, exs.ECONNRESET)
				p.event(p.qa, exs.EvtClose, 0)
				p.ok(m.Deregister(0))
				goOn()
				p.event(p.qb, exs.EvtSend, exs.ECONNRESET)
			}
		})
	}
}
