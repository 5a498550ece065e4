package exs

import "gomx/exs/internal/life"

// Cancel takes back operations that were started with a handle, or with CancelAll
// every one that can be: receives that have got nothing, sends of which nothing has
// left, accepts, and a connect. Their events carry ECANCELED, and come as others do. Length says how much had been transferred,
// which is more than 0 where an operation is taken back in part:
//
//   - A Send or SendMsg of a stream of which a part has left sends no more. The peer gets that part, Length bytes, before what is sent later; who sends
//     the rest anew begins behind it.
//   - A receive of a stream with WaitAll that has got a part has it in its buffer, and it comes no second time.
//   - A SendFile, which can be taken back at any time, ends when what is under way of it has left.
//
// Cancel returns how many there are; what is too far gone ends as it would have. Errors: EINVAL for other
// flags, EBADF.
func (s *Socket) Cancel(ahandle any, flags Flags) (int, error) {
	if flags&^CancelAll != 0 {
		return 0, wrong("cancel", "the only flag is CancelAll")
	}
	if n := s.lockFor(life.Look); n != 0 {
		return 0, s.fail("cancel", n)
	}
	defer s.mu.Unlock()
	count := 0
	for i := len(s.ops) - 1; i >= 0; i-- { // the newest first, so that none moves up in between
		o := s.ops[i]
		if o.live && (flags&CancelAll != 0 || o.ahandle == ahandle) && !s.isPart(o) && s.takeBack(o) {
			count++
		}
	}
	s.settle()
	return count, nil
}

// takeBack takes back one operation, and reports whether it could.
func (s *Socket) takeBack(o *op) bool {
	switch {
	case o.kind == EvtConnect:
		if s.joining == nil {
			return false
		}
		s.joining.stop()
		return true
	case o.kind == EvtAccept:
		for i, a := range s.post.asked {
			if a == o {
				s.post.asked = append(s.post.asked[:i:i], s.post.asked[i+1:]...)
				s.finish(o, ECANCELED)
				return true
			}
		}
		return false
	case o.sends() && s.cancelFile(o):
		return true
	case o.kind == EvtSendFile:
		return false
	case s.stream != nil:
		return s.cancelBytes(o)
	}
	return s.cancelPacket(o)
}

func (s *Socket) cancelPacket(o *op) bool {
	p := &s.packets
	if o.flags&Persistent != 0 {
		return s.takeHome(o)
	}
	if p.waiting.remove(o) || p.line.remove(o) || s.special.remove(o) {
		s.finish(o, ECANCELED)
		return true
	}
	if !o.receives() || o.ended || !p.posted.holds(o) {
		return false
	}
	if !s.unpostPacket(o) {
		return false
	}
	s.finish(o, ECANCELED)
	s.holdStray()
	return true
}
