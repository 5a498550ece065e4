package mpi

import (
	"errors"
	"fmt"

	"gomx/mpi/internal/accum"
	"gomx/mpi/internal/elem"
	"gomx/mpi/internal/service"
)

// AccOp is a predefined operation, of Accumulate and its kin.
type AccOp accum.Op

// The operations. AccReplace and AccNone take any elements, the others numbers: AccMin and
// AccMax none that are complex, the bitwise and logical ones integers.
const (
	AccNone       = AccOp(accum.None)       // leaves what is there (MPI_NO_OP): an atomic read
	AccReplace    = AccOp(accum.Replace)    // an atomic write (MPI_REPLACE)
	AccSum        = AccOp(accum.Sum)        // MPI_SUM
	AccProd       = AccOp(accum.Prod)       // MPI_PROD
	AccMin        = AccOp(accum.Min)        // MPI_MIN
	AccMax        = AccOp(accum.Max)        // MPI_MAX
	AccBitAnd     = AccOp(accum.BitAnd)     // MPI_BAND
	AccBitOr      = AccOp(accum.BitOr)      // MPI_BOR
	AccBitXor     = AccOp(accum.BitXor)     // MPI_BXOR
	AccLogicalAnd = AccOp(accum.LogicalAnd) // MPI_LAND; it makes 0 or 1
	AccLogicalOr  = AccOp(accum.LogicalOr)  // MPI_LOR
	AccLogicalXor = AccOp(accum.LogicalXor) // MPI_LXOR
)

// String returns the name of the operation.
func (o AccOp) String() string { return accum.Op(o).String() }

// largestPiece is how many bytes of elements go to the target at a time.
const largestPiece = 64 << 10

// Accumulate combines src, element by element, with the memory of a rank from an element
// on, and leaves the results there (MPI_Accumulate). src may be used again when it
// returns without an error; the elements are combined after Flush, Unlock or Fence. Errors: those of Put, and
// ErrOp for an operation that the elements don't have. Safe from any goroutine.
func (w *Win[T]) Accumulate(src []T, rank, offset int, op AccOp) error {
	b, _ := elem.Bytes(src)
	return w.open().accumulate("Accumulate", b, nil, rank, offset, op)
}

// GetAccumulate is Accumulate that returns, in result, what was there before
// (MPI_Get_accumulate). Both slices have the same length; with AccNone src may be nil. It is done when
// it returns without an error. More elements than 64 KiB hold are combined in several steps.
func (w *Win[T]) GetAccumulate(src, result []T, rank, offset int, op AccOp) error {
	if err := w.open().usable("GetAccumulate", rank); err != nil {
		return err
	}
	if len(src) != len(result) && (src != nil || op != AccNone) {
		return w.fail("GetAccumulate", rank, ErrCount, fmt.Errorf("%d elements, and room for %d results", len(src), len(result)))
	}
	if src == nil {
		src = result
	}
	b, _ := elem.Bytes(src)
	r, _ := elem.Bytes(result)
	return w.accumulate("GetAccumulate", b, r, rank, offset, op)
}

// FetchAndOp combines one value with an element of a rank, and returns what was there before
// (MPI_Fetch_and_op). It is done when it returns. From ProcNull comes value itself. Errors as Accumulate.
func (w *Win[T]) FetchAndOp(value T, rank, offset int, op AccOp) (T, error) {
	pair := [2]T{value, value}
	in, _ := elem.Bytes(pair[:1])
	out, _ := elem.Bytes(pair[1:])
	err := w.open().accumulate("FetchAndOp", in, out, rank, offset, op)
	return pair[1], err
}

// CompareAndSwap replaces an element of a rank by value if its bytes are those of compare, and returns
// what was there before (MPI_Compare_and_swap). It is done when it returns. From ProcNull comes compare itself.
// Errors as Accumulate.
func (w *Win[T]) CompareAndSwap(compare, value T, rank, offset int) (T, error) {
	pair := [2]T{compare, value}
	old := [1]T{compare}
	in, _ := elem.Bytes(pair[:])
	out, _ := elem.Bytes(old[:])
	if rank == ProcNull {
		return old[0], w.open().usable("CompareAndSwap", rank)
	}
	if _, err := w.open().target("CompareAndSwap", rank, offset, 1); err != nil {
		return old[0], err
	}
	err := w.ask("CompareAndSwap", rank, askSwap, head{offset: uint64(offset * w.size)}, in, out)
	return old[0], err
}

// accumulate sends elements to the target, by pieces. out is nil, or where the old ones go.
func (w *window) accumulate(call string, in, out []byte, rank, offset int, op AccOp) error {
	if w == nil || rank == ProcNull {
		return w.usable(call, rank)
	}
	t, err := w.target(call, rank, offset, len(in)/w.size)
	if err != nil {
		return err
	}
	if !accum.Can(w.kind, accum.Op(op)) {
		return w.fail(call, rank, ErrOp, fmt.Errorf("%v does not exist for these elements", op))
	}
	most := largestPiece / w.size * w.size
	for at := 0; at < len(in); at += most {
		end := min(at+most, len(in))
		h := head{offset: uint64(offset*w.size + at), flag: uint8(op)}
		if out != nil {
			err = w.ask(call, rank, askFetch, h, in[at:end], out[at:end])
		} else {
			err = w.tell(t, call, rank, h, in[at:end])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tell sends elements to be combined.
func (w *window) tell(t *target, call string, rank int, h head, data []byte) error {
	t.owes()
	b := buffers.Get().(*buffer)
	defer buffers.Put(b)
	text := w.write(b, rank, h)
	plane := w.c.seat.job.plane
	if err := plane.Tell(w.c.background(), w.process(rank), sayAccumulate, text, data); err != nil {
		return w.gone(call, rank, err)
	}
	return nil
}

// ask asks the target's process, and waits for the answer: how it went, and data.
func (w *window) ask(call string, rank int, kind service.Kind, h head, data, out []byte) error {
	b := buffers.Get().(*buffer)
	text := w.write(b, rank, h)
	room := b.answer[:1]
	if len(out) > 0 {
		room = b.room(1 + len(out))
	}
	n, err := w.c.seat.job.plane.Call(w.c.background(), w.process(rank), kind, text, data, room)
	if err != nil { // an answer may be on its way into the buffer, which is dropped
		if w.ended() {
			w.targets[rank].owes() // the question may be dealt with yet
		}
		return w.gone(call, rank, err)
	}
	defer buffers.Put(b)
	if room[0] == answerDone && n == 1+len(out) {
		copy(out, room[1:n])
		return nil
	}
	return w.refused(call, rank, room[0])
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
