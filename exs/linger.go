package exs

import (
	"time"

	"gomx/exs/internal/stream"
	"gomx/mx"
)

// lingerTime is how long the close of a connection on which all has left waits until the peer's library has taken it.
const lingerTime = time.Second

// lastWord is the control message that ends a direction. The close waits until the peer's library has taken it, and so everything
// before it. Data that has only left the buffer may still be in this process, or in a TCP connection that the end of the
// process resets.
type lastWord struct {
	s *Socket
	b [1 + stream.MessageSize]byte
}

// sendLast sends the last control message of a direction. The lock is held.
func (s *Socket) sendLast(what byte, text []byte) {
	w := &lastWord{s: s}
	w.b[0] = what
	n := 1 + copy(w.b[1:], text)
	if _, err := s.l.post(s.l.ep.Load().Issend(w.b[:n], s.peer, kindControl<<kindShift|s.out, w)); err == nil {
		s.untaken++
	}
}

// completed is called when the peer has the message, or is gone.
func (w *lastWord) completed(*mx.Status) {
	s := w.s
	s.mu.Lock()
	s.untaken--
	s.settle()
	s.mu.Unlock()
}

// lingers reports whether the close waits for the peer to take what was sent.
func (s *Socket) lingers() bool {
	if s.untaken == 0 || s.fate != 0 || s.lingered {
		return false
	}
	if s.linger == nil {
		s.linger = time.AfterFunc(lingerTime, s.endLinger)
	}
	return true
}

func (s *Socket) endLinger() {
	s.mu.Lock()
	s.lingered = true
	s.settle()
	s.mu.Unlock()
}
