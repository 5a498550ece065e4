package mpi

import (
	"bytes"
	"errors"
	"fmt"

	"gomx/mpi/internal/service"
)

// Elements that are too large for the atomics of mx are read, replaced and compared by the service of the target's process. All of a window go one
// way, which is why they are atomic among one another.

// largestPiece is how many bytes of elements go to the target at a time.
const largestPiece = 64 << 10

// tellLarge sends elements to the target, by pieces.
func (a *combining) tellLarge(in []byte, offset int, op AccOp) error {
	most := largestPiece / a.size * a.size
	for at := 0; at < len(in); at += most {
		h := head{offset: uint64(offset*a.size + at), flag: uint8(op)}
		if err := a.tell(a.t, a.call, a.rank, h, in[at:min(at+most, len(in))]); err != nil {
			return err
		}
	}
	return nil
}

// askLarge is tellLarge that brings back what was there before.
func (a *combining) askLarge(in, out []byte, offset int, op AccOp) error {
	most := largestPiece / a.size * a.size
	for at := 0; at < len(in); at += most {
		end := min(at+most, len(in))
		h := head{offset: uint64(offset*a.size + at), flag: uint8(op)}
		if err := a.ask(a.call, a.rank, askFetch, h, bytes.Clone(in[at:end]), out[at:end]); err != nil {
			return err
		}
	}
	return nil
}

// tell sends elements to be combined.
func (w *window) tell(t *target, call string, rank int, h head, data []byte) error {
	t.expectEffects()
	b := buffers.Get().(*buffer)
	defer buffers.Put(b)
	text := w.write(b, rank, h)
	control := w.c.seat.job.control
	if err := control.Tell(w.c.background(), w.process(rank), noteAccumulate, text, data); err != nil {
		return w.gone(call, rank, err)
	}
	return nil
}

// ask asks the target's process, and waits for the answer: how it went, and data.
func (w *window) ask(call string, rank int, kind service.Kind, h head, data, out []byte) error {
	b := buffers.Get().(*buffer)
	text := w.write(b, rank, h)
	space := b.answer[:1]
	if len(out) > 0 {
		space = b.space(1 + len(out))
	}
	w.c.seat.ep.KeepProgress() // other ranks may wait for their operations on this one's memory, and this one for them to give a lock back
	n, err := w.c.seat.job.control.Call(w.c.background(), w.process(rank), kind, text, data, space)
	if err != nil { // an answer may be on its way into the buffer, which is dropped
		if w.ended() {
			w.targets[rank].expectEffects() // the question may be dealt with yet
		}
		return w.gone(call, rank, err)
	}
	defer buffers.Put(b)
	if space[0] == answerDone && n == 1+len(out) {
		copy(out, space[1:n])
		return nil
	}
	return w.refused(call, rank, space[0])
}

// refused makes the error of what the target would not do.
func (w *window) refused(call string, rank int, answer byte) error {
	switch answer {
	case answerNoWindow:
		return w.fail(call, rank, ErrWin, errors.New("that rank has freed it"))
	case answerRange:
		return w.fail(call, rank, ErrRange, errors.New("that rank says so"))
	case answerLock:
		return w.fail(call, rank, ErrWin, errors.New("that rank says that the lock is held, or is not"))
	case answerDead:
		return w.fail(call, rank, ErrProcFailed, errors.New("that rank takes this one for dead"))
	}
	return w.fail(call, rank, ErrOther, fmt.Errorf("that rank answers %d", answer))
}

func (w *window) process(rank int) int { return w.c.seat.job.process(int(w.c.world[rank])) }
