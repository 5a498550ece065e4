package mpi

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"

	"gomx/mpi/internal/coll"
	"gomx/mpi/internal/elem"
	"gomx/mx"
)

// A collective call checks its arguments, takes its number on the communicator (net), and
// then runs in the caller's goroutine, or is planned if it was started by an I-form (background).

// collectiveBytes returns the memory of a buffer, or what is wrong with the communicator or
// with the type of the elements.
func collectiveBytes[T any](c *Comm, op string, buf []T) ([]byte, error) {
	b, ok := elem.Bytes(buf)
	if ok && c.meets() && uint64(len(b)) <= uint64(mx.MaxMessage) {
		return b, nil
	}
	if err := c.usable(op); err != nil {
		return nil, err
	}
	if !ok {
		return nil, pointers[T](c, op, Undefined, Undefined)
	}
	return b, c.checkLength(op, len(b), Undefined, Undefined)
}

// meets reports at a glance whether the rank can begin a collective. If not, usable says whether that is so, and why.
func (c *Comm) meets() bool {
	return !c.none() && !c.state.careful.Load() && !c.seat.finalized.Load() && c.seat.job.ending.Load() == nil
}

func (c *Comm) checkRoot(op string, root int) error {
	if uint(root) < uint(len(c.peers)) {
		return nil
	}
	return c.noRoot(op, root)
}

func (c *Comm) noRoot(op string, root int) error {
	return c.failWith(op, root, Undefined, ErrRoot, noRank(root, len(c.peers)))
}

// checkLengths wants a buffer to have a length.
func (c *Comm) checkLengths(op, name string, got, want int, why string) error {
	if got == want {
		return nil
	}
	return c.fail(op, ErrCount, "%s has %d elements, not %d: %s", name, got, want, why)
}

// checkCounts returns what is wrong with the counts and displacements of the ranks' parts in
// a buffer of so many elements. displs may be nil: then the parts lie one behind the other. An empty part has no place.
func (c *Comm) checkCounts(op, name string, counts, displs []int, length int) error {
	switch size := len(c.peers); {
	case len(counts) != size:
		return c.fail(op, ErrCount, "%d counts of the parts of %s for %d ranks", len(counts), name, size)
	case displs != nil && len(displs) != size:
		return c.fail(op, ErrCount, "%d displacements of the parts of %s for %d ranks", len(displs), name, size)
	}
	next := 0
	for rank, count := range counts {
		from := next
		if displs != nil && count != 0 {
			from = displs[rank]
		}
		if count < 0 || from < 0 || from > length || count > length-from {
			return c.fail(op, ErrCount, "the part of rank %d in %s, count %d from offset %d on, does not lie in its length of %d", rank, name, count, from, length)
		}
		next = from + count
	}
	return nil
}

// checkApart wants two buffers to share no memory.
func (c *Comm) checkApart(op string, a, b []byte) error {
	if !elem.Overlap(a, b) {
		return nil
	}
	return c.fail(op, ErrArg, "the buffers share memory, and are not the same: give the same slice twice to work in place")
}

// finish ends the collective, with its error.
func (n *net) finish(err error) error {
	n.done()
	return err
}

// reduction is an algorithm that combines elements.
type reduction[T any] func(via coll.Net, send, recv []T, op func(acc, in []T)) error

// combine executes a collective that combines elements, unless there was an error before, and if it fails the rest of it. If
// the operation of the program panics, or ends its goroutine, the collective has failed at this rank, and others are notified before
// that goes on.
func combine[T any](n *net, err error, via coll.Net, send, recv []T, op Op[T], run reduction[T]) error {
	if err == nil {
		returned := false
		defer func() {
			if returned {
				return
			}
			thrown := recover()
			_ = n.finish(failCombine(n, n.thrown(thrown), len(send), len(recv), run))
			if thrown != nil {
				panic(thrown)
			}
		}()
		err = run(via, send, recv, op)
		returned = true
	}
	if err == nil {
		return nil
	}
	return failCombine(n, err, len(send), len(recv), run)
}

// failCombine executes the rest of a collective that combines, from buffers of so many elements, and returns its error.
func failCombine[T any](n *net, err error, send, recv int, run reduction[T]) error {
	return n.fail(err, func(rest coll.Net) error { return run(rest, make([]T, send), make([]T, recv), nothing) })
}

// thrown is why a collective fails whose operation did not return. The caller is the deferred function that has recovered the panic.
func (n *net) thrown(thrown any) error {
	err := errors.New("the operation of the program has ended its goroutine")
	if thrown != nil {
		err = &PanicError{thrown, debug.Stack()}
	}
	return n.c.failWith(n.op, Undefined, Undefined, ErrOther, err)
}

// PanicError is the cause of the error of a collective whose operation has panicked: see Op.
type PanicError struct {
	Value any    // of the panic
	Stack []byte // of the goroutine that has called the operation, as debug.Stack has it
}

// Error has the value and the place of the panic.
func (e *PanicError) Error() string {
	text := fmt.Sprintf("the operation of the program has panicked: %v", e.Value)
	if place := e.place(); place != "" {
		text += " at " + place
	}
	return text
}

// Unwrap returns the value if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// place is the file and line of the panic: those of the first function below it that is not the runtime's. A function has two lines in the
// stack, its name and its place.
func (e *PanicError) place() string {
	_, below, _ := strings.Cut(string(e.Stack), "\npanic(")
	lines := strings.Split(below, "\n")
	for i := 2; i+1 < len(lines); i += 2 {
		if strings.HasPrefix(lines[i], "runtime.") {
			continue
		}
		place, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " +0x")
		return filepath.Base(place)
	}
	return ""
}

var errNoOp = fmt.Errorf("there is no operation: pass Sum, or a function of your own")

func checkOp[T any](c *Comm, name string, op Op[T]) error {
	if op != nil {
		return nil
	}
	return c.failWith(name, Undefined, Undefined, ErrOp, errNoOp)
}
