package exs

import (
	"slices"
	"time"

	"gomx/exs/internal/stream"
	"gomx/mx"
)

// A call whose wait ends early gives its operation up, and its caller gets the memory back. Bytes that are not in a message yet
// are withdrawn, and messages go on with a copy (mx.Endpoint.Detach). So the call ends even if the peer makes no progress,
// and the number of bytes that it returns is the number that the peer gets.

// detachAgain is how long to wait before looking again at a transfer that the medium carries out by itself.
const detachAgain = 10 * time.Millisecond

// giveUp ends the wait for an operation. It returns true if the operation has ended, and false if it goes on without the memory of
// the caller.
func (s *Socket) giveUp(o *op) (ended bool) {
	for first := true; ; first = false {
		s.mu.Lock()
		if first && o.live {
			s.takeBack(o)
			s.settle()
		}
		live := o.live
		detached := live && s.detach(o)
		s.mu.Unlock()
		if !live || detached {
			return !live
		}
		s.l.wait(o.waiter, o, detachAgain)
	}
}

// detach makes an operation go on without the memory of its caller, and reports whether that is possible. The lock is held.
func (s *Socket) detach(o *op) bool {
	if s.stream == nil {
		return s.detachPacket(o)
	}
	ep := s.l.ep.Load()
	if o.sends() {
		for _, r := range o.under {
			if _, free, err := ep.Detach(r); !free && err == nil { // the library's handler reads that memory at the moment
				return false
			}
		}
		o.buf, o.iov = nil, nil
		return true
	}
	for _, l := range s.stream.posted {
		if l.o == o {
			mem, _, _ := ep.Detach(l.req)
			if mem != nil { // else its completion will be dispatched
				o.buf, o.iov = mem, nil
			}
			return mem != nil
		}
	}
	return false
}

// detachPacket is detach for packets. The completion of a send that has completed will be dispatched, and its memory is free.
func (s *Socket) detachPacket(o *op) bool {
	copied, free, err := s.l.ep.Load().Detach(o.req)
	switch {
	case o.sends() && !free && err == nil: // our own handler reads there at the moment
		return false
	case o.sends():
		o.buf, o.iov = nil, nil
	case copied == nil: // its completion will be dispatched
		return false
	default:
		o.buf, o.iov = copied, nil
	}
	return true
}

// cutLoose ends operations of a connection that we have torn down, without waiting for the peer. The lock is held.
func (s *Socket) cutLoose() {
	if s.stream == nil {
		s.cutPackets()
		return
	}
	ep := s.l.ep.Load()
	for _, o := range s.ops {
		for i := len(o.under) - 1; i >= 0; i-- {
			if letSendGo(ep, o.under[i]) {
				o.under = slices.Delete(o.under, i, i+1)
				s.stream.sender.Sent(stream.ID(o.id))
				s.drainSender()
			}
		}
	}
	b := s.stream
	for i := len(b.posted) - 1; i >= 0; i-- {
		l := b.posted[i]
		number, fetch := l.number, l.fetch
		_, gone := letReceiveGo(ep, l.req, fetch)
		switch {
		case !gone:
		case fetch:
			b.drop(l)
			s.breach(b.receiver.Fetched(number))
		default:
			b.drop(l)
			s.breach(b.receiver.Landed(number, 0))
		}
	}
	s.drainReceiver()
}

// cutPackets is cutLoose for packets.
func (s *Socket) cutPackets() {
	ep := s.l.ep.Load()
	for _, o := range s.ops {
		switch {
		case !o.live || o.req == (mx.Request{}):
		case o.sends() && letSendGo(ep, o.req):
			s.finish(o, s.fate)
		case !o.sends():
			s.cutReceive(ep, o)
		}
	}
	s.endInTurn()
}

// cutReceive gives up the receive of a packet, or a read of the peer's memory. If the receive has completed meanwhile, its packet may be in the copy into which it
// was to go on.
func (s *Socket) cutReceive(ep *mx.Endpoint, o *op) {
	switch mem, gone := letReceiveGo(ep, o.req, false); {
	case !gone:
		scatter(o, mem)
	case o.access || s.packets.posted.remove(o):
		s.finish(o, s.fate)
	}
}

// letSendGo gives up a send and frees its memory. It returns false if the send has completed, and its completion will be dispatched,
// or if it will complete when the handler that reads its memory has returned.
func letSendGo(ep *mx.Endpoint, r mx.Request) bool {
	_, free, err := ep.Detach(r)
	return err == nil && free && abandoned(ep, r)
}

// letReceiveGo gives up a receive and frees its memory. If gone is false, the receive has completed and its completion will be
// dispatched, with the message in copied unless that is nil. Or, if ours says that the memory is the library's, the receive
// goes on into that memory.
func letReceiveGo(ep *mx.Endpoint, r mx.Request, ours bool) (copied []byte, gone bool) {
	copied, _, err := ep.Detach(r)
	return copied, err == nil && (copied != nil || ours) && abandoned(ep, r)
}

func abandoned(ep *mx.Endpoint, r mx.Request) bool {
	_, _, err := ep.Abandon(r)
	return err == nil
}
