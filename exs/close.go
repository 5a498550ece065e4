package exs

import (
	"encoding/binary"

	"gomx/exs/internal/life"
)

// Close closes a socket of any kind (4.4). The socket is refused everywhere at once.
// Sends that have started still reach the peer. An event of type EvtClose says that the close is complete; with Block the call
// waits for that instead. The close completes when two conditions hold. All sends have ended, which depends on the peer and may take
// any time. And the peer's library has what was sent, so that the data survives the end of this process, or has not
// acknowledged it within a second (lingerTime). Receives that wait end with nothing.
//
// With DontLinger the connection is torn down: all operations that wait end with ECONNRESET, on this side at once, and on the
// peer's side too. A listener's Accepts, and a connect that is under way, end with ECANCELED. Errors: EBADF, EINVAL.
func (s *Socket) Close(flags Flags, q *Queue, ahandle any) error {
	if err := s.present("close"); err != nil {
		return err
	}
	if flags&^(Block|DontLinger) != 0 {
		return s.wrong("close", "the only flags are Block and DontLinger")
	}
	if n := s.lockFor(life.Close); n != 0 {
		return s.fail("close", n)
	}
	o, n := s.begin(EvtClose, flags, q, ahandle)
	if n != 0 {
		s.mu.Unlock()
		return s.unsuited("close", n, flags, q, nil)
	}
	var abrupt Errno
	if flags&DontLinger != 0 {
		abrupt = ECONNRESET
	}
	s.part(abrupt)
	s.ending = append(s.ending, o)
	s.settle()
	s.mu.Unlock()
	if flags&Block == 0 {
		return nil
	}
	_, _, n = s.await(o)
	s.l.keepProgress()
	return s.fail("close", n)
}

// BlockingClose closes a socket, and waits until all is over (9.5).
func (s *Socket) BlockingClose() error { return s.Close(Block, nil, nil) }

// part ends the socket's operations: in order if n is 0, and else all outstanding ones with the error n. The lock is held.
func (s *Socket) part(abrupt Errno) {
	switch s.life.Close() {
	case life.Bound, life.Listening:
		s.closePost()
	case life.Connecting:
		if s.joining != nil {
			s.joining.stop()
		}
	case life.Connected:
		if abrupt != 0 {
			s.reject(abrupt)
			return
		}
		s.life.Shut(life.Reading)
		s.stopReading()
		s.conceal(toRead, 0)
	case life.Lost:
		s.tear(s.fate)
	}
}

// reject tears the connection down and notifies the peer.
func (s *Socket) reject(n Errno) {
	if s.fate == 0 && !s.peer.IsZero() {
		_ = s.sendControl(ctlReset, nil)
	}
	s.tear(n)
	s.cutLoose()
}

// closePost ends a listener.
func (s *Socket) closePost() {
	p := s.post
	if p == nil { // another socket has taken its port
		return
	}
	p.end()
	_ = p.ln.Close()
	for _, o := range p.asked {
		s.finish(o, ECANCELED)
	}
	for _, n := range p.ready {
		s.l.start(n.discard)
	}
	p.asked, p.ready = nil, nil
	p.admission.Broadcast()
}

// discard closes a socket that no user has seen.
func (s *Socket) discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.joining = nil
	if s.life.State() == life.Connecting {
		s.life.Close()
		s.reject(ECONNRESET)
	} else if s.life.State() != life.Closed {
		s.part(ECONNRESET)
	}
	s.vacate()
}

// settled completes a shutdown or the close if everything before it has ended, and reports whether it did.
func (s *Socket) settled(o *op) bool {
	if o.kind == EvtClose {
		if s.outstanding > 1 {
			return false
		}
		if s.fate == 0 && !s.peer.IsZero() {
			s.endWriting()
		}
		if s.lingers() {
			return false
		}
		if s.linger != nil {
			s.linger.Stop()
		}
		s.finish(o, 0)
		s.vacate()
		return true
	}
	if o.extra.how&ShutWR != 0 {
		if s.sending > 0 {
			return false
		}
		s.endWriting()
		s.life.Shut(life.Writing)
	}
	s.finish(o, s.fate)
	return true
}

// vacate frees the socket's number.
func (s *Socket) vacate() {
	if !s.released {
		s.released = true
		if s.namedBy != nil {
			s.namedBy.giveBack(s.remote)
		}
		s.l.dismiss(s)
		s.discardStray()
		s.sweep(kindPacket, kindIndirect, kindDirect)
		s.trim()
	}
}

// abandon tears the connection down because the library is closed.
func (s *Socket) abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.State() != life.Closed {
		s.part(ECANCELED)
	}
	s.settle()
}

// terminate ends all operations that are left, when the endpoint is closed.
func (s *Socket) terminate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released = true
	s.ending = nil
	for _, o := range s.ops {
		if o.live {
			s.finish(o, ECANCELED)
		}
	}
	s.list.wake()
}

// Shutdown ends one direction of a connection, or both (4.5). ShutWR waits for sends that have
// started; the peer's receives then end with nothing. ShutRD ends our receives with
// nothing, and the peer's sends with EPIPE. An event of type EvtShutdown says when it is
// done; with Block the call waits. A direction that is shut down already is done at once.
// Errors: EBUSY while another Shutdown of the direction is under way, EINVAL, ENOTCONN,
// ECONNRESET, EBADF.
func (s *Socket) Shutdown(how How, flags Flags, q *Queue, ahandle any) error {
	if err := s.present("shutdown"); err != nil {
		return err
	}
	if flags&^Block != 0 {
		return s.wrong("shutdown", "the only flag is Block")
	}
	return s.shutdown(how, flags, q, ahandle)
}

// shutdown is Shutdown without an event.
func (s *Socket) shutdown(how How, flags Flags, q *Queue, ahandle any) error {
	if n := s.lockFor(life.Shutdown); n != 0 {
		return s.fail("shutdown", n)
	}
	o, n := s.begin(EvtShutdown, flags, q, ahandle)
	if n != 0 {
		s.mu.Unlock()
		return s.unsuited("shutdown", n, flags, q, nil)
	}
	open, n := s.life.Shutdown(how)
	if n != 0 {
		s.refuse(o)
		s.mu.Unlock()
		if n == EBUSY {
			return s.named(because("shutdown", n, shutsAlready))
		}
		return s.unfit("shutdown", n, "the directions are ShutRD, ShutWR or both")
	}
	o.extra = &extra{how: open}
	if open&ShutRD != 0 {
		s.life.Shut(life.Reading)
		s.stopReading()
	}
	if open&ShutWR != 0 {
		s.conceal(toRead, 0)
	}
	s.ending = append(s.ending, o)
	s.settle()
	s.mu.Unlock()
	if flags&Block == 0 {
		return nil
	}
	_, _, n = s.await(o)
	return s.fail("shutdown", n)
}

// stopReading ends our receives, and notifies the peer.
func (s *Socket) stopReading() {
	if s.fate == 0 {
		s.sendLast(ctlStop, nil)
	}
	if s.stream != nil {
		s.stopStreamReading()
	} else {
		s.stopReceiving()
	}
}

// endWriting notifies the peer that no more data follows. All sends have ended.
func (s *Socket) endWriting() {
	if s.fate != 0 || s.wrote {
		return
	}
	s.wrote = true
	if s.stream != nil {
		s.endStreamWriting()
		return
	}
	s.sendLast(ctlFin, binary.LittleEndian.AppendUint32(nil, s.packets.sent))
}
