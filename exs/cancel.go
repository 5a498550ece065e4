package exs

import (
	"reflect"

	"gomx/exs/internal/life"
)

// Cancel cancels the operations that were started with a handle or, with CancelAll, all operations that can be cancelled:
// receives that have received nothing, sends of which nothing has left, accepts, and a connect. Their events carry
// ECANCELED. Length says how much had been transferred, which is more than 0 if an operation is cancelled in part:
//
//   - If a part of a Send or SendMsg on a stream has left, the rest is not sent. The peer gets that part, Length bytes, before what
//     is sent later. To send the rest anew, begin behind that part.
//   - If a receive on a stream with WaitAll has received a part, that part is in its buffer, and is not received again.
//   - A SendFile can be cancelled at any time. It ends when the part that is being sent has left.
//
// A call with Block that waits for a credit has not begun its operation, and goes on waiting. The events of several operations come in
// no particular order.
//
// Cancel returns how many operations it has cancelled. Operations that can't be cancelled any more end as usual. Errors: EINVAL
// for other flags, or for a handle that Go can't compare, EBADF.
func (s *Socket) Cancel(ahandle any, flags Flags) (int, error) {
	if err := s.present("cancel"); err != nil {
		return 0, err
	}
	switch {
	case flags&^CancelAll != 0:
		return 0, s.wrong("cancel", "the only flag is CancelAll")
	case flags == 0 && !canCompare(ahandle):
		return 0, s.wrong("cancel", "a handle of type %T can't be compared with others: use CancelAll, or pointers as handles", ahandle)
	}
	if n := s.lockFor(life.Look); n != 0 {
		return 0, s.fail("cancel", n)
	}
	defer s.mu.Unlock()
	count := 0
	for i := len(s.ops) - 1; i >= 0; i-- { // the newest first, so that none moves up in between
		o := s.ops[i]
		if o.live && (flags&CancelAll != 0 || sameHandle(o.ahandle, ahandle)) && !s.isPart(o) && s.takeBack(o) {
			count++
		}
	}
	s.settle()
	return count, nil
}

// sameHandle compares handles, some of which Go can't compare.
func sameHandle(a, b any) bool {
	return canCompare(a) && canCompare(b) && a == b
}

func canCompare(handle any) bool { return handle == nil || reflect.ValueOf(handle).Comparable() }

// cancel cancels a connect, and reports whether that was possible.
func (j *joining) cancel() bool {
	if j == nil || j.made || j.cancelled {
		return false
	}
	j.cancelled = true
	j.stop()
	return true
}

// takeBack cancels one operation, and reports whether that was possible.
func (s *Socket) takeBack(o *op) bool {
	switch {
	case o.kind == EvtConnect:
		return s.joining.cancel()
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
