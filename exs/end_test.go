package exs_test

import (
	"errors"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"gomx/exs"
	"gomx/internal/testlength"
)

func TestShutdownWriting(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		p := w.connect(typ)
		in := make([]byte, 10)
		p.recv(p.b, p.qb, in, 0)
		p.recv(p.b, p.qb, in, 0)
		p.send(p.a, p.qa, []byte("request"), 0)
		p.event(p.qa, exs.EvtSend, 0)
		p.ok(p.a.Shutdown(exs.ShutWR, 0, p.qa, "half"))
		if e := p.event(p.qa, exs.EvtShutdown, 0); e.AHandle != "half" {
			w.Errorf("%+v", e)
		}
		if e := p.event(p.qb, exs.EvtRecv, 0); e.Length != 7 {
			w.Errorf("%d bytes", e.Length)
		}
		for range 2 { // one that was posted, and one after the end
			if e := p.event(p.qb, exs.EvtRecv, 0); e.Length != 0 {
				w.Errorf("%d bytes after the end", e.Length)
			}
			p.recv(p.b, p.qb, in, 0)
		}
		_, err := p.a.Send(in, 0, p.qa, nil, nil)
		refused(w, err, exs.EPIPE)
		_, err = p.b.Write([]byte("answer"))
		p.ok(err)
		n, err := p.a.Read(in)
		p.ok(err)
		p.same(in[:n], []byte("answer"))
		p.ok(p.a.Shutdown(exs.ShutWR, 0, p.qa, nil)) // a second time is nothing, and has its event
		p.event(p.qa, exs.EvtShutdown, 0)
		p.ok(p.b.BlockingClose())
		if n, err := p.a.Read(in); n != 0 || err != io.EOF {
			w.Errorf("%d, %v after the peer's close", n, err)
		}
		p.ok(p.a.BlockingClose())
	})
}

func TestShutdownReading(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		p := w.connect(typ)
		in := make([]byte, 10)
		p.recv(p.a, p.qa, in, 0)
		p.ok(p.a.Shutdown(exs.ShutRD, 0, p.qa, nil))
		if e := p.event(p.qa, exs.EvtRecv, 0); e.Length != 0 {
			w.Errorf("%d bytes", e.Length)
		}
		p.event(p.qa, exs.EvtShutdown, 0)
		for { // until the peer has heard of it
			if _, err := p.b.Write(in); err != nil {
				refused(w, err, exs.EPIPE)
				break
			}
		}
		if n, err := p.a.Read(in); n != 0 || err != io.EOF {
			w.Errorf("%d, %v", n, err)
		}
		_, err := p.a.Write(in)
		p.ok(err)
		n, err := p.b.Read(in)
		p.ok(err)
		if n != len(in) {
			w.Errorf("%d bytes", n)
		}
	})
}

func TestShutdownWaitsForSends(t *testing.T) {
	testlength.Long(t)
	over(t, both, func(w *world, typ int) {
		p := w.connect(typ, func(s *exs.Socket) {
			_, err := s.Fcntl(exs.SetFlowControlCredits, 1)
			w.ok(err)
		})
		big, sent := make([]byte, 4<<20), 0
		for busy := 0; busy < 20; { // a packet may be with the peer's library a moment later, which is long on a busy machine
			_, err := p.a.Send(big, exs.Unsignaled, p.qa, nil, nil)
			if err == nil {
				busy, sent = 0, sent+1
				continue
			}
			refused(w, err, exs.EBUSY)
			p.none(p.qa)
			time.Sleep(10 * time.Millisecond)
			busy++
		}
		p.ok(p.a.Shutdown(exs.ShutWR, 0, p.qa, nil))
		refused(w, p.a.Shutdown(exs.ShutRDWR, 0, p.qa, nil), exs.EBUSY)
		p.none(p.qa)
		in := make([]byte, len(big))
		for got := 0; got < sent*len(big); {
			n, err := p.b.Read(in)
			p.ok(err)
			got += n
		}
		p.event(p.qa, exs.EvtShutdown, 0)
	})
}

func TestCloseWithoutLingering(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		p := w.connect(typ)
		in, big := make([]byte, 10), make([]byte, 20<<20)
		p.recv(p.b, p.qb, in, 0)
		p.send(p.a, p.qa, big, 0)
		p.event(p.qb, exs.EvtRecv, 0)
		p.recv(p.b, p.qb, in, exs.WaitAll)
		if typ == exs.Stream { // of which there is more
			p.event(p.qb, exs.EvtRecv, 0)
		}
		ours := p.queue(p.there)
		p.send(p.b, ours, big, 0)
		p.ok(p.a.Close(exs.DontLinger, p.qa, "close"))
		_, err := p.a.Send(in, 0, p.qa, nil, nil)
		refused(w, err, exs.EBADF)
		for range 2 {
			var e [1]exs.Event
			if n, err := p.qa.Dequeue(e[:], bound); n != 1 || err != nil {
				w.Fatal(n, err)
			}
			if e[0].Type == exs.EvtClose {
				if e[0].AHandle != "close" || e[0].Errno != 0 {
					w.Errorf("%+v", e[0])
				}
				break
			}
		}
		var e [1]exs.Event
		_, err = ours.Dequeue(e[:], bound)
		p.ok(err)
		taken := w.here == w.there && e[0].Errno == 0 // among ourselves it may be, and thrown away, before the reset is known
		if e[0].Errno != exs.ECONNRESET && !taken {
			w.Errorf("send ended with %v", e[0].Errno)
		}
		for taken {
			if _, err := p.b.Send(in, exs.Unsignaled, nil, nil, nil); err != nil && !errors.Is(err, exs.EBUSY) {
				break
			}
		}
		if typ == exs.SeqPacket {
			p.event(p.qb, exs.EvtRecv, exs.ECONNRESET)
		}
		_, err = p.b.Send(in, 0, p.qb, nil, nil)
		refused(w, err, exs.ECONNRESET)
		_, err = p.b.Recv(in, 0, p.qb, nil, nil)
		refused(w, err, exs.ECONNRESET)
		p.ok(p.b.BlockingClose())
		refused(w, p.b.BlockingClose(), exs.EBADF)
		p.ok(p.qb.Delete())
		refused(w, p.qb.Delete(), exs.EINVAL)
	})
}

// TestLibraryIsClosed closes the library of one side, without closing its sockets.
func TestLibraryIsClosed(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		if w.here == w.there {
			w.Skip("there is no other side with one library")
		}
		p := w.connect(typ)
		in := make([]byte, 10)
		p.recv(p.b, p.qb, in, 0)
		p.recv(p.a, p.qa, in, 0)
		p.ok(p.here.Close())
		p.event(p.qb, exs.EvtRecv, exs.ECONNRESET)
		p.event(p.qa, exs.EvtRecv, exs.ECANCELED)
		var e [1]exs.Event
		_, err := p.qa.Dequeue(e[:], exs.Infinite)
		refused(w, err, exs.ENETDOWN)
		_, err = p.a.Write(in)
		refused(w, err, exs.EBADF)
		_, err = p.here.Socket(exs.Inet, typ, 0)
		refused(w, err, exs.ENETDOWN)
		refused(w, p.here.Close(), exs.EINVAL)
	})
}

func TestAcceptsEndWithTheirListener(t *testing.T) {
	w := newWorld(t, "mem")
	for _, typ := range both {
		l, _ := w.listener(typ)
		q := w.queue(w.there)
		_, err := l.Accept(make([]exs.AcceptAddr, 2), 0, q)
		w.ok(err)
		refused(t, q.Delete(), exs.EBUSY)
		w.ok(l.Close(0, q, nil))
		w.event(q, exs.EvtAccept, exs.ECANCELED)
		w.event(q, exs.EvtAccept, exs.ECANCELED)
		w.event(q, exs.EvtClose, 0)
		w.ok(q.Delete())
	}
}

// A Read that waits when its library is closed ends with ECANCELED; that of a Conn as if the Conn had been closed.
func TestReadWhenTheLibraryCloses(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		p := w.connect(typ)
		c, _ := w.conns()
		reads := map[string]chan error{"socket": make(chan error, 1), "conn": make(chan error, 1)}
		go func() {
			_, err := p.a.Read(make([]byte, 10))
			reads["socket"] <- err
		}()
		go func() {
			_, err := c.Read(make([]byte, 10))
			reads["conn"] <- err
		}()
		for p.a.Receiving()+c.Socket().Receiving() < 2 {
			runtime.Gosched()
		}
		w.ok(w.here.Close())
		refused(w, <-reads["socket"], exs.ECANCELED)
		if err := <-reads["conn"]; !errors.Is(err, net.ErrClosed) {
			w.Errorf("of a Conn: %v", err)
		}
	})
}

// A receive that waits for all of its bytes, and has got some, can be cancelled: its event says how many.
func TestCancelOfAPart(t *testing.T) {
	over(t, streams, func(w *world, typ int) {
		p, later := w.connect(typ), w.connect(typ)
		in := make([]byte, 10)
		p.recv(p.b, p.qb, in, exs.WaitAll)
		_, err := p.a.Write([]byte("part"))
		w.ok(err)
		_, err = later.a.Write([]byte("behind it"))
		w.ok(err)
		_, err = later.b.Read(make([]byte, 10))
		w.ok(err)
		n, err := p.b.Cancel(nil, exs.CancelAll)
		w.ok(err)
		if e := p.event(p.qb, exs.EvtRecv, exs.ECANCELED); n != 1 || string(in[:e.Length]) != "part" {
			w.Errorf("%d were cancelled, with %q", n, in[:e.Length])
		}
		_, err = p.a.Write([]byte(" and rest"))
		w.ok(err)
		n, err = p.b.Read(in)
		w.ok(err)
		w.same(in[:n], []byte(" and rest"))
	})
}

// A send of a stream may be cancelled when a part of it has left. Its event says how much, and the peer gets just that, before what is sent later.
func TestCancelOfASendInPart(t *testing.T) {
	over(t, streams, func(w *world, typ int) {
		p := w.connect(typ)
		all := pattern(8<<20, 4) // more than the buffer of the stream takes
		_, err := p.a.Send(all[:len(all)/2], 0, p.qa, "whole", nil)
		p.ok(err)
		_, err = p.a.SendMsg([][]byte{all[len(all)/2:], all}, 0, p.qa, "cut", nil)
		p.ok(err)
		got := make([]byte, 2*len(all))
		n, err := p.b.BlockingRecv(got[:len(all)/2+1], exs.WaitAll, nil)
		p.ok(err)
		p.event(p.qa, exs.EvtSend, 0)
		if n, err := p.a.Cancel("cut", 0); n != 1 || err != nil {
			t.Fatalf("%d cancelled, %v", n, err)
		}
		p.ok(p.a.Close(0, p.qa, "close"))
		for err == nil {
			var more int
			more, err = p.b.Read(got[n:])
			n += more
		}
		e := p.event(p.qa, exs.EvtSendMsg, exs.ECANCELED)
		if e.Length == 0 || e.Length == 3*len(all)/2 {
			t.Errorf("no part has left: %d bytes", e.Length)
		}
		p.same(got[:n], all[:len(all)/2+e.Length])
	})
}
