package exs_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gomx/exs"
)

func TestMemory(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		p := w.connect(typ)
		area := make([]byte, 1000)
		m, err := p.here.Register(area, exs.RecvDisable)
		p.ok(err)
		_, err = p.a.Recv(area, 0, p.qa, nil, m)
		refused(w, err, exs.EACCES)
		_, err = p.a.Send(make([]byte, 10), 0, p.qa, nil, m)
		refused(w, err, exs.EFAULT)
		_, err = p.a.SendMsg([][]byte{area[:10], make([]byte, 10)}, 0, p.qa, nil, m)
		refused(w, err, exs.EFAULT)
		_, err = p.a.Send(area[990:1000:1000], 0, p.qa, nil, m)
		p.ok(err)
		if e := p.event(p.qa, exs.EvtSend, 0); e.Memory != m {
			w.Errorf("%+v", e)
		}
		refused(w, m.Modify(exs.Block), exs.EINVAL)
		p.ok(m.Modify(0))
		_, err = p.a.Recv(area[100:200], 0, p.qa, nil, m)
		p.ok(err)
		refused(w, m.Deregister(0), exs.EBUSY)
		_, err = p.b.Write([]byte("hello"))
		p.ok(err)
		p.event(p.qa, exs.EvtRecv, 0)
		p.same(area[100:105], []byte("hello"))
		refused(w, m.Deregister(exs.Block), exs.EINVAL)
		p.ok(m.Deregister(0))
		refused(w, m.Deregister(0), exs.EINVAL)
		_, err = p.a.Send(area, 0, p.qa, nil, m)
		refused(w, err, exs.EINVAL)
		late, err := p.here.Register(area, 0)
		p.ok(err)
		p.ok(p.here.Close())
		err = late.Deregister(0)
		refused(w, err, exs.ENETDOWN)
		says(t, err, "the library was closed")
		refused(w, late.Deregister(0), exs.EINVAL)
	})
}

func TestPieces(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		p := w.connect(typ)
		all := pattern(100_000, 9)
		out := [][]byte{all[:1], all[1:1], all[1:5000], all[5000:]}
		got := make([]byte, len(all))
		in := [][]byte{got[:70_000], got[70_000:70_001], got[70_001:]}
		_, err := p.b.RecvMsg(in, exs.WaitAll, p.qb, nil, nil)
		p.ok(err)
		n, err := p.a.SendMsg(out, exs.Block, nil, nil, nil)
		p.ok(err)
		if n != len(all) {
			w.Errorf("%d bytes sent", n)
		}
		if e := p.event(p.qb, exs.EvtRecvMsg, 0); e.Length != len(all) || e.Buffer != nil {
			w.Errorf("%d bytes", e.Length)
		}
		p.same(got, all)
	})
}

func TestPeek(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		p := w.connect(typ)
		for _, n := range []int{10, 60_000} {
			for _, early := range []bool{true, false} {
				look, in := make([]byte, 10), make([]byte, n)
				if early {
					p.recv(p.b, p.qb, look, exs.Peek)
				}
				p.send(p.a, p.qa, pattern(n, 5), 0)
				if !early {
					p.recv(p.b, p.qb, look, exs.Peek)
				}
				e := p.event(p.qb, exs.EvtRecv, 0)
				p.same(look[:e.Length], pattern(n, 5)[:e.Length])
				p.recv(p.b, p.qb, in, exs.WaitAll)
				if e := p.event(p.qb, exs.EvtRecv, 0); e.Length != n {
					w.Errorf("%d of %d bytes", e.Length, n)
				}
				p.same(in, pattern(n, 5))
				p.event(p.qa, exs.EvtSend, 0)
			}
		}
	})
}

func TestCancelReceives(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		p := w.connect(typ)
		in := [3][]byte{make([]byte, 5000), make([]byte, 5000), make([]byte, 5000)}
		for i := range in {
			_, err := p.b.Recv(in[i], 0, p.qb, i, nil)
			p.ok(err)
		}
		if n, err := p.b.Cancel(1, 0); n != 1 || err != nil {
			w.Error(n, err)
		}
		if e := p.event(p.qb, exs.EvtRecv, exs.ECANCELED); e.AHandle != 1 {
			w.Errorf("%+v", e.AHandle)
		}
		for i := range 2 {
			p.send(p.a, p.qa, pattern(5000, byte(i)), 0)
			if e := p.event(p.qb, exs.EvtRecv, 0); e.AHandle != 2*i {
				w.Errorf("%v", e.AHandle)
			}
			p.same(in[2*i], pattern(5000, byte(i)))
		}
		p.recv(p.b, p.qb, in[0], 0)
		if n, err := p.b.Cancel(nil, exs.CancelAll); n != 1 || err != nil {
			w.Error(n, err)
		}
		p.event(p.qb, exs.EvtRecv, exs.ECANCELED)
		p.send(p.a, p.qa, pattern(100, 9), 0)
		p.recv(p.b, p.qb, in[0], 0)
		e := p.event(p.qb, exs.EvtRecv, 0)
		p.same(in[0][:e.Length], pattern(100, 9))
	})
}

func TestUnsignaled(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		p := w.connect(typ)
		in, out := make([]byte, 10), make([]byte, 10)
		for range 100 {
			p.send(p.a, nil, out, exs.Unsignaled|exs.CreditWait)
			n, err := p.b.Read(in)
			p.ok(err)
			if n != len(in) {
				w.Fatalf("%d bytes", n)
			}
		}
		p.send(p.a, p.qa, out, exs.Unsignaled)
		p.none(p.qa)
		p.recv(p.b, p.qb, in, exs.Unsignaled) // that one
		p.recv(p.b, p.qb, in, exs.Unsignaled) // which fails, and says so
		p.ok(p.a.Close(exs.DontLinger|exs.Block, nil, nil))
		p.event(p.qb, exs.EvtRecv, exs.ECONNRESET)
	})
}

func TestPoll(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		p := w.connect(typ)
		l, addr := w.listener(typ)
		look := func(want ...exs.PollEvents) {
			w.Helper()
			entries := []exs.PollEntry{{Socket: p.b, Events: exs.PollIn}, {Socket: l, Events: exs.PollIn}, {}}
			n, err := exs.Poll(entries, bound)
			w.ok(err)
			if n == 0 || entries[0].Revents != want[0] || entries[1].Revents != want[1] {
				w.Fatalf("%d: %+v", n, entries)
			}
		}
		entries := []exs.PollEntry{{Socket: p.b, Events: exs.PollIn}}
		if n, err := exs.Poll(entries, 0); n != 0 || err != nil {
			w.Fatal(n, err)
		}
		entries[0].Events = exs.PollOut
		if n, err := exs.Poll(entries, 0); n != 1 || err != nil || entries[0].Revents != exs.PollOut {
			w.Fatal(n, err)
		}
		p.send(p.a, p.qa, []byte("x"), 0)
		look(exs.PollIn, 0)
		_, err := p.b.Read(make([]byte, 1))
		p.ok(err)
		c := w.socket(p.here, typ)
		p.ok(c.Connect(addr, 0, exs.Infinite, p.qa, nil))
		look(0, exs.PollIn)
		_, _, err = l.BlockingAccept()
		p.ok(err)
		p.ok(p.a.BlockingClose())
		look(exs.PollIn|exs.PollHup, 0)
		p.ok(p.b.BlockingClose())
		look(exs.PollNval, 0)
	})
}

// A stream without buffer gets nothing before it receives, so that a Poll for data would wait for ever. The end it finds.
func TestPollWithoutBuffer(t *testing.T) {
	w := newWorld(t, "mem")
	p := w.connect(exs.Stream, func(s *exs.Socket) {
		_, err := s.Fcntl(exs.SetStreamBufSize, 0)
		w.ok(err)
	})
	p.send(p.a, p.qa, []byte("x"), 0)
	entries := []exs.PollEntry{{Socket: p.b, Events: exs.PollIn}}
	_, err := exs.Poll(entries, 0)
	refused(t, err, exs.EOPNOTSUPP)
	says(t, err, "poll", "SetStreamBufSize", "PollHup")
	_, err = p.b.Read(make([]byte, 1))
	w.ok(err)
	w.ok(p.a.BlockingClose())
	entries[0].Events = 0
	if n, err := exs.Poll(entries, bound); n != 1 || err != nil || entries[0].Revents&exs.PollHup == 0 {
		t.Errorf("%d, %v, %v", n, err, entries[0].Revents)
	}
}

// The way to wait is chosen before a queue is used, whatever its first use is.
func TestQueueModeAfterUse(t *testing.T) {
	w := newWorld(t, "mem")
	p := w.connect(exs.SeqPacket, w.small(8, 1000))
	for what, use := range map[string]func(q *exs.Queue){
		"an operation":         func(q *exs.Queue) { p.recv(p.b, q, make([]byte, 8), 0) },
		"a send within a call": func(q *exs.Queue) { p.send(p.a, q, make([]byte, 8), 0) },
		"a look":               func(q *exs.Queue) { w.none(q) },
		"a look for several":   func(q *exs.Queue) { _, _ = q.DequeueAtLeast(make([]exs.Event, 2), 2, 0) },
	} {
		q := w.queue(w.there)
		if what == "a send within a call" {
			q = w.queue(w.here)
		}
		w.ok(q.Modify(exs.QAttrWait, exs.WaitNotify))
		w.ok(q.Modify(exs.QAttrWait, exs.WaitAdaptive))
		use(q)
		if err := q.Modify(exs.QAttrWait, exs.WaitBusyPoll); !errors.Is(err, exs.EINVAL) {
			t.Errorf("after %s: %v", what, err)
		}
		w.ok(q.Modify(exs.QAttrEvents, 2))
	}
}

func TestQueueAttributes(t *testing.T) {
	w := newWorld(t, "mem")
	p := w.connect(exs.SeqPacket)
	for _, mode := range []exs.WaitMode{exs.WaitAdaptive, exs.WaitBusyPoll, exs.WaitNotify} {
		q := w.queue(w.there)
		w.ok(q.Modify(exs.QAttrWait, mode))
		if got, err := q.Status(exs.QAttrWait); got != mode || err != nil {
			t.Error(got, err)
		}
		in, out := make([]byte, 10), make([]byte, 10)
		for range 6 { // more than the queue's depth
			p.recv(p.b, q, in, 0)
		}
		go func() {
			for range 6 {
				time.Sleep(time.Millisecond)
				_, _ = p.a.Write(out)
			}
		}()
		var e [8]exs.Event
		if n, err := q.DequeueAtLeast(e[:], 6, bound); n != 6 || err != nil {
			t.Errorf("mode %d: %d, %v", mode, n, err)
		}
		if n, err := q.Dequeue(e[:], 5*time.Millisecond); n != 0 || err != nil {
			t.Errorf("mode %d: %d, %v", mode, n, err)
		}
		refused(t, q.Modify(exs.QAttrWait, exs.WaitAdaptive), exs.EINVAL)
	}
	refused(t, p.qb.Modify(exs.QAttrEvents, 0), exs.EINVAL)
	refused(t, p.qb.Modify(exs.Attr(9), 1), exs.EINVAL)
	signal := make(chan struct{}, 1)
	w.ok(p.qb.Modify(exs.QAttrSignal, signal))
	w.ok(p.qb.Modify(exs.QAttrEvents, 2))
	in, out := make([]byte, 10), make([]byte, 10)
	p.recv(p.b, p.qb, in, 0)
	p.recv(p.b, p.qb, in, 0)
	_, _ = p.a.Write(out)
	_, _ = p.a.Write(out)
	select {
	case <-signal:
	case <-time.After(bound):
		t.Fatal("no signal")
	}
	p.event(p.qb, exs.EvtRecv, 0)
	p.event(p.qb, exs.EvtRecv, 0)
}

// TestStrangers has nonsense come to a listener.
func TestStrangers(t *testing.T) {
	w := newWorld(t, "mem")
	l, addr := w.listener(exs.Stream)
	q := w.queue(w.there)
	_, err := l.Accept(make([]exs.AcceptAddr, 1), 0, q)
	w.ok(err)
	for _, nonsense := range []string{"GET / HTTP/1.0\r\n\r\n", "gomx exs\x01\x00\x01\x00" + string(make([]byte, 60)), "gomx"} {
		c, err := net.Dial("tcp", addr.String())
		w.ok(err)
		_, err = c.Write([]byte(nonsense))
		w.ok(err)
		_ = c.(*net.TCPConn).CloseWrite() // it may have been closed already
		_ = c.SetReadDeadline(time.Now().Add(bound))
		if n, err := c.Read(make([]byte, 1)); err == nil || n > 0 {
			t.Errorf("%q: an answer", nonsense)
		}
		c.Close()
	}
	strangers := func() uint64 { return w.there.Counters()[1].Value }
	for deadline := time.Now().Add(bound); strangers() != 3; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d strangers counted", strangers())
		}
	}
	w.none(q)
	s := w.socket(w.here, exs.Stream)
	w.ok(s.BlockingConnect(addr))
	w.event(q, exs.EvtAccept, 0)
}

func TestSendFile(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		p := w.connect(typ)
		all := pattern(1_000_000, 11)
		name := filepath.Join(w.TempDir(), "file")
		w.ok(os.WriteFile(name, all[100_000:], 0o600))
		file, err := os.Open(name)
		w.ok(err)
		defer file.Close()
		_, err = p.a.SendFile([]exs.FileVec{
			{Bytes: all, Length: 100_000},
			{File: file, Length: 300_000},
			{Path: name, Offset: 300_000, Length: -1},
		}, 0, p.qa, "file")
		w.ok(err)
		p.send(p.a, p.qa, []byte("behind"), 0)
		var got []byte
		in := make([]byte, 300_000)
		for len(got) < len(all)+6 {
			n, err := p.b.Read(in)
			p.ok(err)
			got = append(got, in[:n]...)
		}
		p.same(got, append(all, "behind"...))
		if e := p.event(p.qa, exs.EvtSendFile, 0); e.Length != len(all) || e.AHandle != "file" {
			w.Errorf("%d bytes", e.Length)
		}
		p.event(p.qa, exs.EvtSend, 0)
		for _, c := range []struct {
			v    exs.FileVec
			want exs.Errno
		}{
			{exs.FileVec{}, exs.EINVAL},
			{exs.FileVec{Path: name, Bytes: all}, exs.EINVAL},
			{exs.FileVec{Bytes: all[:10], Length: 11}, exs.EINVAL},
			{exs.FileVec{Path: name, Offset: 2_000_000, Length: 1}, exs.EIO},
		} {
			_, err := p.a.SendFile([]exs.FileVec{c.v}, exs.Block, nil, nil)
			refused(w, err, c.want)
		}
		_, err = p.a.SendFile([]exs.FileVec{{Path: name + "!"}}, exs.Block, nil, nil)
		if !errors.Is(err, os.ErrNotExist) {
			w.Error(err)
		}
	})
}

// TestDeleteBehindTheLastEvent: an operation is off its queue before anybody can take its event.
func TestDeleteBehindTheLastEvent(t *testing.T) {
	w := newWorld(t, "mem")
	l := w.open()
	q := w.queue(l)
	exs.EndOn(q)
	w.event(q, 0, 0)
	w.ok(q.Delete())
}
