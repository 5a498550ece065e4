package pingpong

import (
	"encoding/binary"
	"errors"
	"fmt"

	"gomx/mx"
)

// OneSided is what an exchange is in place of a message and its answer: an operation on a window of the follower, which
// takes no part.
type OneSided string

// The operations. Each is timed until it is complete: a put when its bytes are in the window, the others when theirs are
// back.
const (
	NoOneSided OneSided = ""
	Put        OneSided = "put"
	Get        OneSided = "get"
	Atomic     OneSided = "atomic" // a fetch-and-add of integers of 8 bytes
)

const atomicElement = 8 // bytes

func (p *Plan) checkOneSided() error {
	switch p.OneSided {
	case NoOneSided:
		return nil
	case Put, Get, Atomic:
	default:
		return fmt.Errorf("operation %q: want put, get or atomic", p.OneSided)
	}
	for _, n := range p.Lengths {
		if p.OneSided == Atomic && (n < atomicElement || n > mx.MaxAtomic || n%atomicElement != 0) {
			return fmt.Errorf("length %d of an atomic: want a multiple of %d from %d to %d bytes", n, atomicElement, atomicElement, mx.MaxAtomic)
		}
	}
	if p.Window > 0 || p.Posted > 0 || p.Unexpected > 0 || p.Sync || p.Verify {
		return errors.New("puts, gets and atomics have neither windows of messages nor queues in their way, are never synchronous, and are always checked")
	}
	return nil
}

// access makes operations on a window, one after the other.
func (s *side) access(length, count int) error {
	buf := s.buf[:length]
	for range count {
		r, err := s.start(buf)
		if err != nil {
			return err
		}
		if err := s.wait(r); err != nil {
			return err
		}
	}
	s.exchanged += uint64(count)
	return nil
}

func (s *side) start(buf []byte) (mx.Request, error) {
	switch s.plan.OneSided {
	case Put:
		return s.ep.Iput(buf, s.peer, s.window, 0, matchOut, nil)
	case Get:
		return s.ep.Iget(buf, s.peer, s.window, 0, matchOut, nil)
	}
	// What it brings back takes the place of the operands, and would be added the next time.
	for i := 0; i < len(buf); i += atomicElement {
		binary.NativeEndian.PutUint64(buf[i:], 1)
	}
	return s.ep.IfetchAtomic(mx.AtomicSum, mx.AtomicUint64, buf, s.peer, s.window, 0, matchOut, nil)
}

// prepare writes into the window, and into the buffer, what checkWindow relies on.
func (s *side) prepare(length int) error {
	there := s.check[:length]
	switch s.plan.OneSided {
	case Put:
		clear(there)
		s.runs++
		Fill(s.buf[:length], s.runs)
	case Get:
		s.runs++
		Fill(there, s.runs)
		clear(s.buf[:length])
	case Atomic:
		clear(there)
		s.exchanged = 0
	}
	r, err := s.ep.Iput(there, s.peer, s.window, 0, matchOut, nil)
	if err != nil {
		return err
	}
	return s.wait(r)
}

// checkWindow compares the window, or what a get has brought, with what the operations must have left.
func (s *side) checkWindow(length int) error {
	if s.plan.OneSided == Get {
		return Verify(s.buf[:length], s.runs)
	}
	there := s.check[:length]
	r, err := s.ep.Iget(there, s.peer, s.window, 0, matchOut, nil)
	if err == nil {
		err = s.wait(r)
	}
	switch {
	case err != nil:
		return err
	case s.plan.OneSided == Put:
		return Verify(there, s.runs)
	}
	for i := 0; i < length; i += atomicElement {
		if n := binary.NativeEndian.Uint64(there[i:]); n != s.exchanged {
			return fmt.Errorf("%w: element %d is %d after %d atomic additions of 1", ErrCorrupt, i/atomicElement, n, s.exchanged)
		}
	}
	return nil
}

// openWindow opens the follower's buffer to the leader.
func (s *side) openWindow(buf []byte) (handle mx.WindowHandle, err error) {
	if s.opened == nil {
		if s.opened, err = s.ep.OpenWindow(buf, mx.WindowRead|mx.WindowWrite); err != nil {
			return handle, err
		}
	}
	return s.opened.Handle(), nil
}
