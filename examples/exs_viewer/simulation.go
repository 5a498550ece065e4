package main

import (
	"context"
	"errors"
	"net/netip"
	"runtime"

	"gomx/exs"
)

// simulation computes, and shows each viewer that comes what it has.
type simulation struct {
	plate    plate
	listener *exs.Socket
	addr     netip.AddrPort
	coming   chan *exs.Socket
	viewers  []*showing
}

// showing is one viewer.
type showing struct {
	s     *exs.Socket
	q     *exs.Queue
	frame []byte // on its way, until its event has come
	busy  bool
	half  int
}

func newSimulation(at netip.AddrPort) (*simulation, error) {
	domain := exs.Inet6
	if at.Addr().Is4() {
		domain = exs.Inet
	}
	l, err := exs.NewSocket(domain, exs.SeqPacket, 0)
	if err != nil {
		return nil, err
	}
	s := &simulation{listener: l, coming: make(chan *exs.Socket, 1)}
	s.plate.init()
	if _, err = l.Fcntl(exs.SetFlowControlCredits, 1); err == nil {
		err = l.Bind(at)
	}
	if err == nil {
		err = l.Listen(1)
	}
	if err == nil {
		s.addr, err = l.SockName()
	}
	return s, err
}

// run computes until the context ends.
func (s *simulation) run(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			v, _, err := s.listener.BlockingAccept()
			if err != nil {
				return
			}
			select {
			case s.coming <- v:
			case <-ctx.Done():
				_ = v.BlockingClose()
			}
		}
	}()
	for ctx.Err() == nil {
		s.plate.step()
		s.meet()
		s.show()
		runtime.Gosched()
	}
	err := s.listener.BlockingClose()
	<-ended
	for _, v := range s.viewers {
		err = errors.Join(err, v.s.Close(exs.Block|exs.DontLinger, nil, nil))
	}
	return err
}

// meet looks whether a viewer has come.
func (s *simulation) meet() {
	select {
	case v := <-s.coming:
		if q, err := exs.NewQueue(1); err == nil {
			s.viewers = append(s.viewers, &showing{s: v, q: q, frame: make([]byte, frameSize)})
		}
	default:
	}
}

// show sends the present state to the viewers that can take it.
func (s *simulation) show() {
	still := s.viewers[:0]
	for _, v := range s.viewers {
		if err := v.show(&s.plate); err != nil { // it has gone
			_ = v.s.Close(exs.DontLinger|exs.Block, nil, nil)
			continue
		}
		still = append(still, v)
	}
	clear(s.viewers[len(still):])
	s.viewers = still
}

// show sends a frame, unless the one before is still on its way or not looked at.
func (v *showing) show(p *plate) error {
	if v.busy {
		var e [1]exs.Event
		n, err := v.q.Dequeue(e[:], 0)
		if n == 0 || err != nil {
			return err
		}
		v.busy = false
		if e[0].Errno != 0 {
			return e[0].Errno
		}
	}
	p.frame(v.frame)
	_, err := v.s.SendOffset(v.frame, v.half*frameSize, 0, v.q, nil, exs.Unregistered)
	v.half = 1 - v.half
	v.busy = err == nil
	return err
}
