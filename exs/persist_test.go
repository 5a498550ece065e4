package exs_test

import (
	"bytes"
	"testing"
	"time"

	"gomx/exs"
)

// persist starts a persistent operation.
func (p *pair) persist(s *exs.Socket, q *exs.Queue, b []byte, recv bool, flags exs.Flags) {
	p.Helper()
	begin := s.Send
	if recv {
		begin = s.Recv
	}
	_, err := begin(b, exs.Persistent|flags, q, "lasting", nil)
	p.ok(err)
}

// used polls until the peer has used the memory so often. It takes the endpoint's lock, so
// that the race detector, which does not see what peers tell each other, knows in what order
// the library and the test touch the memory.
func (w *world) used(s *exs.Socket, n uint64) {
	w.Helper()
	for end := time.Now().Add(bound); ; {
		got, err := s.PollPersistent()
		w.ok(err)
		if got >= n {
			return
		}
		if time.Now().After(end) {
			w.Fatalf("used %d times of %d within %v", got, n, bound)
		}
	}
}

// known waits until the peer knows of what s has exported: a packet the other way is behind it.
func (p *pair) known(from, to *exs.Socket) {
	p.Helper()
	b := make([]byte, 1)
	_, err := from.Send(b, exs.Block, nil, nil, nil)
	p.ok(err)
	_, err = to.Recv(b, exs.Block, nil, nil, nil)
	p.ok(err)
}

var lengths = []int{1, 8, 40, 1000, 5000, 200_000}

func TestPersistentReceive(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ)
		field := make([]byte, 300_000)
		p.persist(p.b, p.qb, field, true, 0)
		times := uint64(0)
		for i, n := range lengths { // the first ones, perhaps, before the peer knows
			p.send(p.a, p.qa, pattern(n, byte(i)), 0)
			if e := p.event(p.qa, exs.EvtSend, 0); e.Length != n {
				w.Fatalf("%v, %d bytes at %d", e.Type, e.Length, e.Offset)
			}
			times++
			p.used(p.b, times)
			p.same(field[:n], pattern(n, byte(i)))
			p.used(p.b, 0) // see used

			_, err := p.a.SendOffset(pattern(n, byte(i+50)), 70_000, exs.Block, nil, nil, nil)
			p.ok(err)
			times++
			p.used(p.b, times)
			p.same(field[70_000:][:n], pattern(n, byte(i+50)))
			p.used(p.b, 0)
		}
		_, err := p.a.SendMsg([][]byte{[]byte("ab"), []byte("cd")}, 0, p.qa, nil, nil)
		p.ok(err)
		p.event(p.qa, exs.EvtSendMsg, 0)
		p.used(p.b, times+1)
		p.same(field[:4], []byte("abcd"))
		p.used(p.b, 0)
		p.none(p.qb)

		for _, at := range []int{300_000, 299_999, 1 << 30} {
			_, err = p.a.SendOffset([]byte("xy"), at, exs.Block, nil, nil, nil)
			refused(w, err, exs.EFAULT)
		}
		_, err = p.a.SendOffset(nil, -1, 0, p.qa, nil, nil)
		refused(w, err, exs.EFAULT)
		_, err = p.b.Recv(field, 0, p.qb, nil, nil)
		refused(w, err, exs.EBUSY)
		_, err = p.b.Recv(field, exs.Persistent, p.qb, nil, nil)
		refused(w, err, exs.EBUSY)

		n, err := p.b.Cancel("lasting", 0)
		p.ok(err)
		if e := p.event(p.qb, exs.EvtRecv, exs.ECANCELED); n != 1 || e.AHandle != "lasting" {
			w.Fatalf("%d, handle %v", n, e.AHandle)
		}
		_, err = p.b.PollPersistent()
		refused(w, err, exs.EINVAL)
		before := bytes.Clone(field)
		p.known(p.b, p.a)
		p.send(p.a, p.qa, []byte("a packet"), 0)
		in := make([]byte, 10)
		got, err := p.b.Recv(in, exs.Block, nil, nil, nil)
		p.ok(err)
		p.same(in[:got], []byte("a packet"))
		p.same(field, before)
		p.ok(p.b.BlockingClose())
		p.ok(p.a.BlockingClose())
	})
}

func TestPersistentSend(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ)
		field := pattern(300_000, 7)
		early := make([]byte, 100)
		p.recv(p.b, p.qb, early, 0) // it is posted, and then finds the memory
		p.persist(p.a, p.qa, field, false, 0)
		p.event(p.qb, exs.EvtRecv, 0)
		p.same(early, field[:100])
		for _, n := range lengths {
			in := make([]byte, n)
			p.recv(p.b, p.qb, in, 0)
			if e := p.event(p.qb, exs.EvtRecv, 0); e.Length != n {
				w.Fatalf("%v, %d bytes at %d", e.Type, e.Length, e.Offset)
			}
			p.same(in, field[:n])
			_, err := p.b.RecvOffset(in, 50_000, exs.Block, nil, nil, nil)
			p.ok(err)
			p.same(in, field[50_000:][:n])
		}
		p.used(p.a, uint64(1+2*len(lengths)))
		p.none(p.qa)
		_, err := p.b.RecvOffset(make([]byte, 2), 299_999, exs.Block, nil, nil, nil)
		refused(w, err, exs.EFAULT)
		_, err = p.a.Send(field, 0, p.qa, nil, nil)
		refused(w, err, exs.EBUSY)
		_, err = p.a.SendFile([]exs.FileVec{{Bytes: field, Length: -1}}, 0, p.qa, nil)
		refused(w, err, exs.EBUSY)

		p.ok(p.a.Shutdown(exs.ShutWR, exs.Block, nil, nil))
		p.event(p.qa, exs.EvtSend, 0)
		if n, err := p.b.Recv(early, exs.Block, nil, nil, nil); n != 0 || err != nil {
			w.Errorf("%d, %v after the end", n, err)
		}
		if n, err := p.b.RecvOffset(early, 5, exs.Block, nil, nil, nil); n != 0 || err != nil {
			w.Errorf("%d, %v after the end", n, err)
		}
	})
}

// Operations with offset wait for memory, whichever side comes first.
func TestOffsetsWait(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ)
		in, field := make([]byte, 10), make([]byte, 100)
		_, err := p.a.SendOffset([]byte("early"), 20, 0, p.qa, nil, nil)
		p.ok(err)
		_, err = p.a.RecvOffset(in, 20, 0, p.qa, 1, nil)
		p.ok(err)
		p.none(p.qa)
		n, err := p.a.Cancel(1, 0)
		p.ok(err)
		if n != 1 {
			w.Fatalf("%d cancelled", n)
		}
		p.event(p.qa, exs.EvtRecv, exs.ECANCELED)
		p.persist(p.b, p.qb, field, true, 0)
		p.event(p.qa, exs.EvtSend, 0)
		p.used(p.b, 1)
		p.same(field[20:25], []byte("early"))
	})
}

// A write has its event when the call returns, if it could leave at once, and else later; what
// it says is the same. What is wrong with its memory is told as for other sends.
func TestWritesHaveTheirEvent(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ)
		field := make([]byte, 200_000)
		p.persist(p.b, p.qb, field, true, 0)
		p.known(p.b, p.a)
		m, err := w.here.Register(make([]byte, 100_000), 0)
		p.ok(err)
		for i, n := range []int{0, 1, 500, 100_000} {
			buf := m.Bytes()[:n]
			copy(buf, pattern(n, byte(i)))
			at := 1000 * i // each its own place: the peer's writes have no order with our looks
			_, err := p.a.SendOffset(buf, at, 0, p.qa, i, m)
			p.ok(err)
			e := p.event(p.qa, exs.EvtSend, 0)
			if e.AHandle != i || e.Length != n || e.Offset != at || e.Memory != m || e.Socket != p.a || len(e.Buffer) != n {
				w.Fatalf("%+v", e)
			}
			p.used(p.b, uint64(i+1))
			p.same(field[at:][:n], buf)
		}
		_, err = p.a.SendOffset(make([]byte, 10), 70_000, 0, p.qa, nil, m)
		refused(w, err, exs.EFAULT)
		_, err = p.a.SendOffset(m.Bytes()[:10], len(field)-9, 0, p.qa, nil, m)
		p.ok(err)
		p.event(p.qa, exs.EvtSend, exs.EFAULT)
		p.ok(m.Deregister(0))
		_, err = p.a.SendOffset(m.Bytes()[:10], 0, 0, p.qa, nil, m)
		refused(w, err, exs.EINVAL)
	})
}

// A notice comes with each use, and the peer waits for a program that does not take them.
func TestNotices(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		const credits = 4
		p := w.connect(typ, w.small(credits, 0))
		field := make([]byte, 100_000)
		p.persist(p.b, p.qb, field, true, exs.Notify)
		p.known(p.b, p.a)
		for i, n := range []int{3, 1000, 60_000} {
			_, err := p.a.SendOffset(pattern(n, byte(i)), 1000*i, exs.Block, nil, nil, nil)
			p.ok(err)
			e := p.event(p.qb, exs.EvtWritten, 0)
			if e.Offset != 1000*i || e.Length != n || e.AHandle != "lasting" || e.Socket != p.b || &e.Buffer[0] != &field[0] {
				w.Fatalf("%v, %d bytes at %d", e.Type, e.Length, e.Offset)
			}
			p.same(field[e.Offset:][:e.Length], pattern(n, byte(i)))
			p.used(p.b, 0)
		}
		sent := 0
		for ; ; sent++ {
			if _, err := p.a.SendOffset([]byte{byte(sent)}, sent, 0, p.qa, nil, nil); err != nil {
				refused(w, err, exs.EBUSY)
				break
			}
		}
		if sent < credits || sent > 3*credits { // some have ended, some wait, and as many as are known to be taken
			w.Fatalf("%d sends with %d credits", sent, credits)
		}
		for i := range sent {
			e := p.event(p.qb, exs.EvtWritten, 0)
			if e.Offset != i || field[i] != byte(i) {
				w.Fatalf("%d: %d bytes at %d", i, e.Length, e.Offset)
			}
		}
		p.used(p.b, 0)
		for range sent {
			p.event(p.qa, exs.EvtSend, 0)
		}
	})
}

// The sender is told when its memory has been read.
func TestNoticesOfReads(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		p := w.connect(typ)
		field, in := pattern(50_000, 1), make([]byte, 40_000)
		p.persist(p.a, p.qa, field, false, exs.Notify)
		for i, n := range []int{1, 500, 40_000} {
			got, err := p.b.RecvOffset(in[:n], i, exs.Block, nil, nil, nil)
			p.ok(err)
			p.same(in[:got], field[i:][:n])
			if e := p.event(p.qa, exs.EvtRead, 0); e.Offset != i || e.Length != n {
				w.Fatalf("%v, %d bytes at %d", e.Type, e.Length, e.Offset)
			}
		}
	})
}

// However a connection ends, so do persistent operations and what is under way on them, and no
// window is left.
func TestPersistenceEnds(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		for _, how := range []string{"close", "reset", "peer closes", "peer resets", "library"} {
			p := w.connect(typ)
			mem, err := p.there.Register(make([]byte, 1000), 0)
			p.ok(err)
			_, err = p.b.Recv(mem.Bytes(), exs.Persistent, p.qb, nil, mem)
			p.ok(err)
			_, err = p.b.Send(mem.Bytes(), exs.Persistent, p.qb, nil, mem)
			p.ok(err)
			refused(w, mem.Deregister(0), exs.EBUSY)
			_, err = p.a.SendOffset([]byte("x"), 0, exs.Block, nil, nil, nil)
			p.ok(err)
			first, second := exs.Errno(0), exs.EPIPE // the receive, the send
			switch how {
			case "close":
				p.ok(p.b.BlockingClose())
				second = 0
			case "reset":
				p.ok(p.b.Close(exs.Block|exs.DontLinger, nil, nil))
				first, second = exs.ECONNRESET, exs.ECONNRESET
			case "peer closes":
				p.ok(p.a.BlockingClose())
			case "peer resets":
				p.ok(p.a.Close(exs.Block|exs.DontLinger, nil, nil))
				first, second = exs.ECONNRESET, exs.ECONNRESET
			case "library":
				if p.here == p.there {
					continue
				}
				p.ok(p.here.Close())
				first, second = exs.ECONNRESET, exs.ECONNRESET
			}
			want := map[exs.EventType]exs.Errno{exs.EvtRecv: first, exs.EvtSend: second}
			for range 2 {
				var e [1]exs.Event
				n, err := p.qb.Dequeue(e[:], bound)
				p.ok(err)
				if number, ok := want[e[0].Type]; n != 1 || !ok || e[0].Errno != number {
					w.Errorf("%s: %d events, %v with %v", how, n, e[0].Type, e[0].Errno)
				}
				delete(want, e[0].Type)
			}
			p.ok(mem.Deregister(0))
			ep, err := p.there.Endpoint()
			p.ok(err)
			for _, c := range ep.Counters() {
				if c.Label == "windows" && c.Value != 0 {
					w.Errorf("%s: %d windows are left", how, c.Value)
				}
			}
		}
	})
}

// TestOffsetWaitsForItsDirection: the peer has memory for the other direction, which says nothing about whether it will
// have some for this one.
func TestOffsetWaitsForItsDirection(t *testing.T) {
	over(t, packets, func(w *world, typ int) {
		for _, reads := range []bool{true, false} {
			p := w.connect(typ)
			theirs, ours, begin, kind := pattern(100, 1), make([]byte, 10), p.a.RecvOffset, exs.EvtRecv
			if !reads {
				theirs, ours, begin, kind = make([]byte, 100), pattern(10, 2), p.a.SendOffset, exs.EvtSend
			}
			p.persist(p.b, p.qb, make([]byte, 100), reads, 0)
			p.other(reads)
			_, err := begin(ours, 20, 0, p.qa, "waits", nil)
			p.ok(err)
			p.none(p.qa)
			p.persist(p.b, p.qb, theirs, !reads, 0)
			if e := p.event(p.qa, kind, 0); e.Length != 10 || e.AHandle != "waits" {
				w.Fatalf("reads %v: %d bytes, handle %v", reads, e.Length, e.AHandle)
			}
			if !reads {
				p.used(p.b, 1)
			}
			p.same(ours, theirs[20:30])
			p.ok(p.b.BlockingClose())
			p.ok(p.a.BlockingClose())
		}
	})
}

// other waits until a knows of the memory of b that it can use in one direction alone.
func (p *pair) other(writes bool) {
	p.Helper()
	b := make([]byte, 5)
	if !writes {
		_, err := p.a.Recv(b, exs.Block, nil, nil, nil)
		p.ok(err)
		return
	}
	_, err := p.a.Send(b, exs.Block, nil, nil, nil)
	p.ok(err)
	p.used(p.b, 1)
	p.known(p.b, p.a)
}

func TestPersistentArguments(t *testing.T) {
	w := newWorld(t, "mem")
	p := w.connect(exs.SeqPacket)
	b := make([]byte, 10)
	for _, flags := range []exs.Flags{exs.Block, exs.Peek, exs.WaitAll} {
		_, err := p.a.Recv(b, exs.Persistent|flags, p.qa, nil, nil)
		refused(w, err, exs.EINVAL)
	}
	_, err := p.a.Recv(nil, exs.Persistent, p.qa, nil, nil)
	refused(w, err, exs.EINVAL)
	_, err = p.a.Recv(b, exs.Notify, p.qa, nil, nil)
	refused(w, err, exs.EINVAL)
	_, err = p.a.Recv(b, exs.Persistent|exs.Notify|exs.Unsignaled, nil, nil, nil)
	refused(w, err, exs.EINVAL)
	_, err = p.a.RecvOffset(b, 0, exs.Peek, p.qa, nil, nil)
	refused(w, err, exs.EINVAL)
	mem, err := p.here.Register(b, exs.RecvDisable)
	p.ok(err)
	_, err = p.a.Recv(b, exs.Persistent, p.qa, nil, mem)
	refused(w, err, exs.EACCES)
	_, err = p.a.Recv(make([]byte, 5), exs.Persistent, p.qa, nil, mem)
	refused(w, err, exs.EACCES)
	_, err = p.a.Send(make([]byte, 5), exs.Persistent, p.qa, nil, mem)
	refused(w, err, exs.EFAULT)
	_, err = p.a.PollPersistent()
	refused(w, err, exs.EINVAL)
	q := w.connect(exs.Stream)
	_, err = q.a.Recv(b, exs.Persistent, q.qa, nil, nil)
	refused(w, err, exs.EOPNOTSUPP)
	_, err = q.a.SendOffset(b, 0, 0, q.qa, nil, nil)
	refused(w, err, exs.EOPNOTSUPP)
	fresh := w.socket(w.here, exs.SeqPacket)
	_, err = fresh.SendOffset(b, 0, 0, p.qa, nil, nil)
	refused(w, err, exs.ENOTCONN)
	_, err = fresh.PollPersistent()
	refused(w, err, exs.ENOTCONN)
	p.ok(fresh.BlockingClose())
	_, err = fresh.PollPersistent()
	refused(w, err, exs.EBADF)
	_, err = (*exs.Socket)(nil).RecvOffset(b, 0, 0, p.qa, nil, nil)
	refused(w, err, exs.EBADF)
}

// Writes into memory cost nothing on the heap.
func TestNoAllocationPerWrite(t *testing.T) {
	w := newWorld(t, "shm")
	p := w.connect(exs.SeqPacket)
	field, b := make([]byte, 100), make([]byte, 8)
	p.persist(p.b, p.qb, field, true, 0)
	p.known(p.b, p.a)
	times := uint64(0)
	once := func() {
		_, _ = p.a.SendOffset(b, 10, exs.Unsignaled, nil, nil, nil)
		times++
		p.used(p.b, times)
	}
	once()
	if n := testing.AllocsPerRun(1000, once); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestNoAllocationInPlace(t *testing.T) {
	w := newWorld(t, "shm")
	p := w.connect(exs.SeqPacket, w.small(32, 1000))
	b := make([]byte, 100)
	var e [1]exs.Event
	once := func() {
		_, _ = p.b.Recv(nil, exs.InPlace, p.qb, nil, nil)
		_, _ = p.a.Send(b, 0, p.qa, nil, nil)
		_, _ = p.qa.Dequeue(e[:], bound)
		_, _ = p.qb.Dequeue(e[:], bound)
		_ = p.b.RecycleRcvBuffer(e[0].Buffer)
	}
	for range 100 {
		once()
	}
	if n := testing.AllocsPerRun(1000, once); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
