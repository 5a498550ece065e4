package exs

import (
	"time"

	"gomx/exs/internal/life"
)

// PollEvents are what Poll waits for, and what it finds.
type PollEvents uint8

// The events of Poll. The last three are found whether asked for or not.
const (
	PollIn   PollEvents = 1 << iota // a receive, or an Accept, would end at once. Not for a stream without buffer
	PollOut                         // a send would find a credit
	PollErr                         // the connection was torn down, or the peer is gone
	PollHup                         // the peer sends no more
	PollNval                        // the socket is closed
)

// PollEntry is a socket that Poll looks at.
type PollEntry struct {
	Socket  *Socket
	Events  PollEvents // the events to wait for
	Revents PollEvents // the events that were found
}

// Poll waits until one of the sockets, which must be of one library, has one of the events to wait for, or the timeout has passed
// (exs_poll). It fills in Revents, and returns how many sockets have events. It ignores nil sockets.
// When a socket is closed, by itself or with the library, a Poll that waits ends, and finds PollNval. Errors: EINVAL for sockets of
// several libraries or for none, ENETDOWN, EOPNOTSUPP for PollIn of a connected stream without buffer: what its peer sends comes
// only once there is a receive for it.
func Poll(entries []PollEntry, timeout time.Duration) (int, error) {
	p := poll{entries: entries}
	for i := range entries {
		s := entries[i].Socket
		switch {
		case s == nil:
		case s.none():
			return 0, absent("poll", EINVAL, noSocket)
		case p.l == nil:
			p.l = s.l
		case p.l != s.l:
			return 0, wrong("poll", oneLibrary)
		}
		if s != nil && entries[i].Events&PollIn != 0 && s.waitsForReceives() {
			return 0, s.named(because("poll", EOPNOTSUPP, noBuffer))
		}
	}
	if p.l == nil {
		return 0, wrong("poll", oneLibrary)
	}
	if _, err := p.l.Endpoint(); err != nil {
		return 0, err
	}
	p.l.waitIn(&p.l.pollers, &p, timeout)
	return p.found, nil
}

// waitsForReceives reports whether the peer sends nothing before there is a receive for it.
func (s *Socket) waitsForReceives() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.life.State()
	return s.withoutBuffer() && (state == life.Connecting || state == life.Connected)
}

// poll is a call of Poll.
type poll struct {
	l       *Library
	entries []PollEntry
	found   int
}

func (p *poll) ready() bool {
	p.found = 0
	for i := range p.entries {
		e := &p.entries[i]
		e.Revents = 0
		if e.Socket == nil {
			continue
		}
		e.Revents = e.Socket.events() & (e.Events | PollErr | PollHup | PollNval)
		if e.Revents != 0 {
			p.found++
		}
	}
	return p.found > 0
}

// events returns what a socket has.
func (s *Socket) events() (have PollEvents) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.life.State() {
	case life.Closed:
		return PollNval
	case life.Lost, life.Reset:
		return PollErr | PollHup | PollIn | PollOut
	case life.Listening:
		if len(s.post.ready) > 0 {
			have |= PollIn
		}
		s.post.open = true // a program that polls for connections is ready for them
		s.post.admission.Broadcast()
		return have
	case life.Connected:
	default:
		return 0
	}
	if s.life.CanSend() != 0 || s.sending < s.options.credits {
		have |= PollOut
	}
	here, ended := s.arrived()
	if here || ended {
		have |= PollIn
	}
	if ended {
		have |= PollHup
	}
	return have
}

// arrived reports whether data has arrived that no receive has taken, and whether no more will arrive.
func (s *Socket) arrived() (here, ended bool) {
	if b := s.stream; b != nil {
		return b.receiver.Buffered() > 0, s.life.AtEnd() || b.fin
	}
	p := &s.packets
	return len(p.held) > 0, s.life.AtEnd() || p.total >= 0 && int32(p.next+uint32(len(p.held))-uint32(p.total)) >= 0
}
