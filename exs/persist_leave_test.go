package exs_test

import (
	"testing"

	"gomx/exs"
)

// What is sent while the peer takes its memory back is in that memory when its event comes, and
// what is sent afterwards comes as packets: nothing that has ended as success is lost.
func TestSendAsMemoryLeaves(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		for _, flags := range []exs.Flags{0, exs.Notify} {
			p := w.connect(typ)
			field := make([]byte, 100)
			p.persist(p.b, p.qb, field, true, flags)
			p.known(p.b, p.a)
			w.ok(p.here.BeforeHide(func() {
				if _, err := p.a.SendOffset([]byte("late"), 50, exs.Unsignaled, nil, nil, nil); err != nil {
					t.Error(err)
				}
			}))
			if n, err := p.b.Cancel("lasting", 0); n != 1 || err != nil {
				w.Fatalf("%d taken back, %v", n, err)
			}
			if n, err := p.b.Cancel("lasting", 0); n != 0 || err != nil {
				w.Fatalf("%d taken back again, %v", n, err)
			}
			if flags == exs.Notify {
				if e := p.event(p.qb, exs.EvtWritten, 0); e.Offset != 50 || e.Length != 4 {
					w.Errorf("%d bytes at %d", e.Length, e.Offset)
				}
			}
			p.event(p.qb, exs.EvtRecv, exs.ECANCELED)
			p.same(field[50:54], []byte("late"))
			p.send(p.a, p.qa, []byte("a packet"), 0)
			p.gets([]byte("a packet"))
		}
	})
}

// A persistent receive that is being taken back ends, however the connection does.
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
				w.Fatalf("%d taken back, %v", n, err)
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
