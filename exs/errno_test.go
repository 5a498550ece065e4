package exs_test

import (
	"errors"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"gomx/exs"
	"gomx/mx"
)

// states are sockets of one type in each of the states that a call can find them in.
type states struct {
	*world
	typ int

	fresh, bound, listening, connecting, connected, shut, reset, closed *exs.Socket

	q     *exs.Queue // of the same library
	other *exs.Queue // of another one
	b     []byte
	taken netip.AddrPort // somebody has it
	wrong netip.AddrPort // of another domain
}

func (w *world) states(typ int) *states {
	w.Helper()
	s := &states{world: w, typ: typ, q: w.queue(w.here), b: make([]byte, 8), wrong: netip.MustParseAddrPort("[::1]:0")}
	s.other = w.queue(newWorld(w.TB, "mem").here)
	s.fresh, s.bound, s.closed = w.socket(w.here, typ), w.socket(w.here, typ), w.socket(w.here, typ)
	w.ok(s.bound.Bind(loopback))
	w.ok(s.closed.BlockingClose())

	s.listening = w.socket(w.here, typ)
	w.ok(s.listening.Bind(loopback))
	w.ok(s.listening.Listen(1))
	s.taken, _ = s.listening.SockName()

	silent, err := net.Listen("tcp", "127.0.0.1:0")
	w.ok(err)
	w.Cleanup(func() { _ = silent.Close() })
	s.connecting = w.socket(w.here, typ)
	w.ok(s.connecting.Connect(silent.Addr().(*net.TCPAddr).AddrPort(), 0, exs.Infinite, w.queue(w.here), nil))

	s.connected = w.connect(typ).a
	p := w.connect(typ)
	s.shut = p.a
	w.ok(p.a.Shutdown(exs.ShutWR, exs.Block, nil, nil))
	p = w.connect(typ)
	s.reset = p.a
	w.ok(p.b.Close(exs.DontLinger|exs.Block, nil, nil))
	w.within("the reset", func() {
		for {
			if n, err := p.a.Recv(s.b, exs.Block, nil, nil, nil); n != 0 || err != nil {
				refused(w, err, exs.ECONNRESET)
				return
			}
		}
	})
	return s
}

// The error of each function of the manual in each state that the manual, or sockets as
// everybody knows them, gives one for.
func TestErrorsOfStates(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		s := w.states(typ)
		dial := func(of *exs.Socket) error { return of.Connect(s.taken, 0, bound, s.q, nil) }
		accept := func(of *exs.Socket) error { return second(of.Accept(make([]exs.AcceptAddr, 1), 0, s.q)) }
		send := func(of *exs.Socket) error { return second(of.Send(s.b, 0, s.q, nil, nil)) }
		sendMsg := func(of *exs.Socket) error { return second(of.SendMsg([][]byte{s.b}, 0, s.q, nil, nil)) }
		file := func(of *exs.Socket) error { return second(of.SendFile([]exs.FileVec{{Bytes: s.b}}, 0, s.q, nil)) }
		write := func(of *exs.Socket) error { return second(of.Write(s.b)) }
		recv := func(of *exs.Socket) error { return second(of.Recv(s.b, 0, s.q, nil, nil)) }
		recvMsg := func(of *exs.Socket) error { return second(of.RecvMsg([][]byte{s.b}, 0, s.q, nil, nil)) }
		read := func(of *exs.Socket) error { return second(of.Read(s.b)) }
		shutdown := func(of *exs.Socket) error { return of.Shutdown(exs.ShutRDWR, 0, s.q, nil) }
		bind := func(of *exs.Socket) error { return of.Bind(loopback) }
		listen := func(of *exs.Socket) error { return of.Listen(1) }
		peer := func(of *exs.Socket) error { return second(of.PeerName()) }
		tune := func(of *exs.Socket) error { return second(of.Fcntl(exs.SetFlowControlCredits, 8)) }
		look := func(of *exs.Socket) error { return second(of.Fcntl(exs.GetFD, 0)) }
		for _, c := range []struct {
			name                                                             string
			call                                                             func(*exs.Socket) error
			fresh, bound, listening, connecting, connected, shut, reset, old exs.Errno
		}{
			{"exs_bind", bind, 0, exs.EINVAL, exs.EINVAL, exs.EINVAL, exs.EINVAL, exs.EINVAL, exs.EINVAL, exs.EBADF},
			{"exs_listen", listen, exs.EDESTADDRREQ, 0, 0, exs.EINVAL, exs.EINVAL, exs.EINVAL, exs.EINVAL, exs.EBADF},
			{"exs_accept", accept, exs.EINVAL, exs.EINVAL, 0, exs.EINVAL, exs.EINVAL, exs.EINVAL, exs.EINVAL, exs.EBADF},
			{"exs_connect", dial, 0, 0, exs.EOPNOTSUPP, exs.EALREADY, exs.EISCONN, exs.EISCONN, exs.EISCONN, exs.EBADF},
			{"exs_send", send, exs.ENOTCONN, exs.ENOTCONN, exs.ENOTCONN, exs.ENOTCONN, 0, exs.EPIPE, exs.ECONNRESET, exs.EBADF},
			{"exs_sendmsg", sendMsg, exs.ENOTCONN, exs.ENOTCONN, exs.ENOTCONN, exs.ENOTCONN, 0, exs.EPIPE, exs.ECONNRESET, exs.EBADF},
			{"exs_sendfile", file, exs.ENOTCONN, exs.ENOTCONN, exs.ENOTCONN, exs.ENOTCONN, 0, exs.EPIPE, exs.ECONNRESET, exs.EBADF},
			{"exs_write", write, exs.ENOTCONN, exs.ENOTCONN, exs.ENOTCONN, exs.ENOTCONN, 0, exs.EPIPE, exs.ECONNRESET, exs.EBADF},
			{"exs_recv", recv, exs.ENOTCONN, exs.ENOTCONN, exs.ENOTCONN, exs.ENOTCONN, 0, 0, exs.ECONNRESET, exs.EBADF},
			{"exs_recvmsg", recvMsg, exs.ENOTCONN, exs.ENOTCONN, exs.ENOTCONN, exs.ENOTCONN, 0, 0, exs.ECONNRESET, exs.EBADF},
			{"exs_read", read, exs.ENOTCONN, exs.ENOTCONN, exs.ENOTCONN, exs.ENOTCONN, 0, 0, exs.ECONNRESET, exs.EBADF},
			{"exs_shutdown", shutdown, exs.ENOTCONN, exs.ENOTCONN, exs.ENOTCONN, exs.ENOTCONN, 0, 0, exs.ECONNRESET, exs.EBADF},
			{"getpeername", peer, exs.ENOTCONN, exs.ENOTCONN, exs.ENOTCONN, exs.ENOTCONN, 0, 0, 0, exs.EBADF},
			{"exs_fcntl, set", tune, 0, 0, 0, exs.EISCONN, exs.EISCONN, exs.EISCONN, exs.EISCONN, exs.EBADF},
			{"exs_fcntl, get", look, 0, 0, 0, 0, 0, 0, 0, exs.EBADF},
		} {
			for _, in := range []struct {
				state string
				of    *exs.Socket
				want  exs.Errno
			}{
				{"fresh", s.fresh, c.fresh}, {"bound", s.bound, c.bound}, {"listening", s.listening, c.listening},
				{"connecting", s.connecting, c.connecting}, {"connected", s.connected, c.connected},
				{"shut for writing", s.shut, c.shut}, {"reset", s.reset, c.reset}, {"closed", s.closed, c.old}, {"no socket", nil, c.old},
			} {
				if in.want != 0 { // the others would change the state; other tests have them
					w.says(c.name+" of a socket "+in.state, c.call(in.of), in.want)
				}
			}
		}
	})
}

// says checks the number of a call's error, and that it is one of this package.
func (w *world) says(what string, err error, n exs.Errno) {
	w.Helper()
	if _, ours := errors.AsType[*exs.Error](err); !ours || !errors.Is(err, n) {
		w.Errorf("%s: error %v, want %v", what, err, n)
	}
}

// The error of each function of the manual for each argument that makes no sense.
func TestErrorsOfArguments(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		s := w.states(typ)
		area, outside := make([]byte, 100), make([]byte, 100)
		m, err := w.here.Register(area[:50:50], 0)
		w.ok(err)
		readOnly, err := w.here.Register(area, exs.RecvDisable)
		w.ok(err)
		ended, err := w.here.Register(area, 0)
		w.ok(err)
		w.ok(ended.Deregister(0))
		foreign, err := newWorld(t, "mem").here.Register(area, 0)
		w.ok(err)
		deleted := w.queue(w.here)
		w.ok(deleted.Delete())
		a := s.connected
		many := make([][]byte, mx.MaxSegments+1)
		for _, c := range []struct {
			name string
			err  error
			want exs.Errno
		}{
			{"exs_bind, taken", s.fresh.Bind(s.taken), exs.EADDRINUSE},
			{"exs_bind, other domain", s.fresh.Bind(s.wrong), exs.EAFNOSUPPORT},
			{"exs_bind, no address", s.fresh.Bind(netip.AddrPort{}), exs.EAFNOSUPPORT},
			{"exs_bind, not ours", s.fresh.Bind(netip.MustParseAddrPort("192.0.2.1:0")), syscall.EADDRNOTAVAIL},
			{"exs_connect, other domain", s.fresh.Connect(s.wrong, 0, bound, s.q, nil), exs.EAFNOSUPPORT},
			{"exs_connect, no queue", s.fresh.Connect(s.taken, 0, bound, nil, nil), exs.EINVAL},
			{"exs_connect, timeout", s.fresh.Connect(s.taken, 0, -time.Second, s.q, nil), exs.EINVAL},
			{"exs_connect, flags", s.fresh.Connect(s.taken, exs.WaitAll, bound, s.q, nil), exs.EINVAL},
			{"exs_connect, nobody in time", s.fresh.Connect(s.taken, exs.Block, time.Millisecond, nil, nil), exs.ETIMEDOUT},
			{"exs_accept, none", second(s.listening.Accept(nil, 0, s.q)), exs.EINVAL},
			{"exs_accept, two that block", second(s.listening.Accept(make([]exs.AcceptAddr, 2), exs.Block, nil)), exs.EINVAL},
			{"exs_accept, no queue", second(s.listening.Accept(make([]exs.AcceptAddr, 1), 0, nil)), exs.EINVAL},
			{"exs_accept, flags", second(s.listening.Accept(make([]exs.AcceptAddr, 1), exs.Peek, s.q)), exs.EINVAL},
			{"exs_send, no queue", second(a.Send(s.b, 0, nil, nil, nil)), exs.EINVAL},
			{"exs_send, deleted queue", second(a.Send(s.b, 0, deleted, nil, nil)), exs.EINVAL},
			{"exs_send, another library's queue", second(a.Send(s.b, 0, s.other, nil, nil)), exs.EINVAL},
			{"exs_send, flags", second(a.Send(s.b, exs.Peek, s.q, nil, nil)), exs.EINVAL},
			{"exs_send, outside", second(a.Send(outside, 0, s.q, nil, m)), exs.EFAULT},
			{"exs_send, half outside", second(a.Send(area[:51], 0, s.q, nil, m)), exs.EFAULT},
			{"exs_send, deregistered", second(a.Send(area, 0, s.q, nil, ended)), exs.EINVAL},
			{"exs_send, another library's memory", second(a.Send(area, 0, s.q, nil, foreign)), exs.EINVAL},
			{"exs_sendmsg, pieces", second(a.SendMsg(many, 0, s.q, nil, nil)), exs.EMSGSIZE},
			{"exs_sendmsg, half outside", second(a.SendMsg([][]byte{area[:10], outside}, 0, s.q, nil, m)), exs.EFAULT},
			{"exs_recv, no queue", second(a.Recv(s.b, 0, nil, nil, nil)), exs.EINVAL},
			{"exs_recv, deleted queue", second(a.Recv(s.b, 0, deleted, nil, nil)), exs.EINVAL},
			{"exs_recv, flags", second(a.Recv(s.b, exs.DontLinger, s.q, nil, nil)), exs.EINVAL},
			{"exs_recv, outside", second(a.Recv(outside, 0, s.q, nil, m)), exs.EFAULT},
			{"exs_recv, memory to send from", second(a.Recv(area, 0, s.q, nil, readOnly)), exs.EACCES},
			{"exs_recv, deregistered", second(a.Recv(area, 0, s.q, nil, ended)), exs.EINVAL},
			{"exs_recv, another library's memory", second(a.Recv(area, 0, s.q, nil, foreign)), exs.EINVAL},
			{"exs_recvmsg, pieces", second(a.RecvMsg(many, 0, s.q, nil, nil)), exs.EMSGSIZE},
			{"exs_sendfile, no piece", second(a.SendFile(make([]exs.FileVec, 1), 0, s.q, nil)), exs.EINVAL},
			{"exs_sendfile, no queue", second(a.SendFile([]exs.FileVec{{Bytes: s.b}}, 0, nil, nil)), exs.EINVAL},
			{"exs_sendfile, no file", second(a.SendFile([]exs.FileVec{{Path: "no such file"}}, exs.Block, nil, nil)), syscall.ENOENT},
			{"exs_shutdown, nothing", a.Shutdown(0, 0, s.q, nil), exs.EINVAL},
			{"exs_shutdown, how", a.Shutdown(8, 0, s.q, nil), exs.EINVAL},
			{"exs_shutdown, flags", a.Shutdown(exs.ShutRD, exs.Peek, s.q, nil), exs.EINVAL},
			{"exs_shutdown, no queue", a.Shutdown(exs.ShutRD, 0, nil, nil), exs.EINVAL},
			{"exs_close, flags", a.Close(exs.Peek, s.q, nil), exs.EINVAL},
			{"exs_close, no queue", a.Close(0, nil, nil), exs.EINVAL},
			{"exs_cancel, flags", second(a.Cancel(nil, exs.Block)), exs.EINVAL},
			{"exs_cancel, closed", second(s.closed.Cancel(nil, 0)), exs.EBADF},
			{"exs_fcntl, command", second(a.Fcntl(exs.GetStreamBufSize+1, 0)), exs.EINVAL},
			{"exs_fcntl, command below", second(a.Fcntl(-1, 0)), exs.EINVAL},
			{"exs_fcntl, credits", second(s.fresh.Fcntl(exs.SetFlowControlCredits, 0)), exs.EINVAL},
			{"exs_fcntl, inline", second(s.fresh.Fcntl(exs.SetInlineMaxSize, -1)), exs.EINVAL},
			{"exs_fcntl, bits", second(s.fresh.Fcntl(exs.SetFD, 1<<10)), exs.EINVAL},
			{"exs_fcntl, buffer", second(s.fresh.Fcntl(exs.SetStreamBufSize, -1)), exs.EINVAL},
			{"exs_mregister, nothing", second(w.here.Register(nil, 0)), exs.EINVAL},
			{"exs_mregister, flags", second(w.here.Register(area, exs.Block)), exs.EINVAL},
			{"exs_mderegister, twice", ended.Deregister(0), exs.EINVAL},
			{"exs_mderegister, flags", m.Deregister(exs.Block), exs.EINVAL},
			{"exs_mderegister, none", exs.Unregistered.Deregister(0), exs.EINVAL},
			{"exs_mmodify, flags", m.Modify(exs.Block), exs.EINVAL},
			{"exs_mmodify, deregistered", ended.Modify(0), exs.EINVAL},
			{"exs_poll, no socket", second(exs.Poll([]exs.PollEntry{{}}, 0)), exs.EINVAL},
			{"exs_qcreate, depth", second(w.here.Queue(0)), exs.EINVAL},
			{"exs_qdelete, twice", deleted.Delete(), exs.EINVAL},
			{"exs_qdelete, none", (*exs.Queue)(nil).Delete(), exs.EINVAL},
			{"exs_qdequeue, no room", second(s.q.Dequeue(nil, 0)), exs.EINVAL},
			{"exs_qdequeue, deleted", second(deleted.Dequeue(make([]exs.Event, 1), 0)), exs.EINVAL},
			{"exs_qmodify, attribute", s.q.Modify(99, 1), exs.EINVAL},
			{"exs_qmodify, type", s.q.Modify(exs.QAttrWait, "busy"), exs.EINVAL},
			{"exs_qmodify, deleted", deleted.Modify(exs.QAttrEvents, 1), exs.EINVAL},
			{"exs_qstatus, attribute", second(s.q.Status(99)), exs.EINVAL},
		} {
			w.says(c.name, c.err, c.want)
		}
		w.none(s.q) // what was refused has no completion phase
	})
}
