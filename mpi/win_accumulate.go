package mpi

import (
	"bytes"
	"fmt"
	"reflect"

	"gomx/mpi/internal/elem"
	"gomx/mx"
)

// AccOp is a predefined operation, of Accumulate and its kin.
type AccOp mx.AtomicOp

// The operations. AccReplace and AccNone take any elements, the others numbers: AccMin and
// AccMax none that are complex, the bitwise and logical ones integers.
const (
	AccNone       = AccOp(mx.AtomicRead)       // leaves what is there (MPI_NO_OP): an atomic read
	AccReplace    = AccOp(mx.AtomicReplace)    // an atomic write (MPI_REPLACE)
	AccSum        = AccOp(mx.AtomicSum)        // MPI_SUM
	AccProd       = AccOp(mx.AtomicProduct)    // MPI_PROD
	AccMin        = AccOp(mx.AtomicMin)        // MPI_MIN
	AccMax        = AccOp(mx.AtomicMax)        // MPI_MAX
	AccBitAnd     = AccOp(mx.AtomicAnd)        // MPI_BAND
	AccBitOr      = AccOp(mx.AtomicOr)         // MPI_BOR
	AccBitXor     = AccOp(mx.AtomicXor)        // MPI_BXOR
	AccLogicalAnd = AccOp(mx.AtomicLogicalAnd) // MPI_LAND; it makes 0 or 1
	AccLogicalOr  = AccOp(mx.AtomicLogicalOr)  // MPI_LOR
	AccLogicalXor = AccOp(mx.AtomicLogicalXor) // MPI_LXOR
)

// String returns the name of the operation.
func (o AccOp) String() string { return mx.AtomicOp(o).String() }

// exists reports whether the operation exists for elements of a kind. Compare-and-swap is a call of its own.
func (o AccOp) exists(kind mx.AtomicType) bool {
	return o != AccOp(mx.AtomicCompareSwap) && kind.Has(mx.AtomicOp(o))
}

// kindOf returns what elements are to mx: numbers, or no more than bytes.
func kindOf[T any]() mx.AtomicType {
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return bySize[T](mx.AtomicInt8, mx.AtomicInt16, mx.AtomicInt32, mx.AtomicInt64)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return bySize[T](mx.AtomicUint8, mx.AtomicUint16, mx.AtomicUint32, mx.AtomicUint64)
	case reflect.Float32:
		return mx.AtomicFloat32
	case reflect.Float64:
		return mx.AtomicFloat64
	case reflect.Complex64:
		return mx.AtomicComplex64
	case reflect.Complex128:
		return mx.AtomicComplex128
	}
	return mx.AtomicBytes
}

func bySize[T any](one, two, four, eight mx.AtomicType) mx.AtomicType {
	switch elem.Size[T]() {
	case 1:
		return one
	case 2:
		return two
	case 4:
		return four
	}
	return eight
}

// Accumulate combines src, element by element, with the memory of a rank from an element on, and stores the results
// there (MPI_Accumulate). src may be reused when the call returns without an error. The elements are combined when
// Flush, Unlock or Fence has returned. Errors: those of Put, and ErrOp for an operation that the elements don't have.
// Safe from any goroutine.
func (w *Win[T]) Accumulate(src []T, rank, offset int, op AccOp) error {
	b, _ := elem.Bytes(src)
	return w.open().accumulate(b, rank, offset, op)
}

// GetAccumulate is Accumulate that also returns the elements before, in result (MPI_Get_accumulate). Both slices must
// have the same length; with AccNone src may be nil. It is complete when it returns without an error. More elements
// than fit into 64 KiB are combined in several steps.
func (w *Win[T]) GetAccumulate(src, result []T, rank, offset int, op AccOp) error {
	if err := w.open().usable("GetAccumulate", rank); err != nil {
		return err
	}
	if len(src) != len(result) && (src != nil || op != AccNone) {
		return w.fail("GetAccumulate", rank, ErrCount, fmt.Errorf("%d elements, but memory for %d results", len(src), len(result)))
	}
	if src == nil {
		src = result
	}
	b, _ := elem.Bytes(src)
	r, _ := elem.Bytes(result)
	return w.fetch("GetAccumulate", b, r, rank, offset, op)
}

// FetchAndOp combines one value with an element of a rank, and returns the element before (MPI_Fetch_and_op). It is
// complete when it returns. For ProcNull it returns value. Errors: those of Accumulate.
func (w *Win[T]) FetchAndOp(value T, rank, offset int, op AccOp) (T, error) {
	pair := [2]T{value, value}
	in, _ := elem.Bytes(pair[:1])
	out, _ := elem.Bytes(pair[1:])
	err := w.open().fetch("FetchAndOp", in, out, rank, offset, op)
	return pair[1], err
}

// CompareAndSwap replaces an element of a rank by value if its bytes equal those of compare, and returns the element
// before (MPI_Compare_and_swap). It is complete when it returns. For ProcNull it returns compare. Errors: those of
// Accumulate.
func (w *Win[T]) CompareAndSwap(compare, value T, rank, offset int) (T, error) {
	pair := [2]T{compare, value}
	old := [1]T{compare}
	in, _ := elem.Bytes(pair[:])
	out, _ := elem.Bytes(old[:])
	if rank == ProcNull {
		return old[0], w.open().usable("CompareAndSwap", rank)
	}
	err := w.open().compareAndSwap(in, out, rank, offset)
	return old[0], err
}

// accumulate combines elements with those of the target.
func (w *window) accumulate(in []byte, rank, offset int, op AccOp) error {
	a, err := w.combines("Accumulate", len(in), rank, offset, op)
	switch {
	case err != nil || a.window == nil:
		return err
	case w.large():
		return a.tellLarge(in, offset, op)
	}
	return a.combine(mx.AtomicOp(op), in, offset*w.size)
}

// fetch combines elements with those of the target, and brings back what was there before.
func (w *window) fetch(call string, in, out []byte, rank, offset int, op AccOp) error {
	a, err := w.combines(call, len(in), rank, offset, op)
	switch {
	case err != nil || a.window == nil:
		return err
	case w.large():
		return a.askLarge(in, out, offset, op)
	}
	return a.fetch(mx.AtomicOp(op), w.kind, in, out, offset*w.size)
}

// combines checks a call that combines so many bytes. Without a window and an error there is nothing to do.
func (w *window) combines(call string, n, rank, offset int, op AccOp) (a combining, err error) {
	if w == nil || rank == ProcNull {
		return a, w.usable(call, rank)
	}
	t, p, err := w.aim(call, rank, offset, n/w.size)
	switch {
	case err != nil:
		return a, err
	case !op.exists(w.kind):
		return a, w.fail(call, rank, ErrOp, fmt.Errorf("%v does not exist for these elements", op))
	case n == 0:
		return a, nil
	}
	return combining{w, t, p.addr, t.handle, call, rank}, nil
}

// compareAndSwap has both operands in in.
func (w *window) compareAndSwap(in, out []byte, rank, offset int) error {
	const call = "CompareAndSwap"
	t, p, err := w.aim(call, rank, offset, 1)
	if err != nil {
		return err
	}
	a := combining{w, t, p.addr, t.handle, call, rank}
	if w.large() {
		return w.ask(call, rank, askSwap, head{offset: uint64(offset * w.size)}, bytes.Clone(in), out)
	}
	return a.fetch(mx.AtomicCompareSwap, mx.AtomicBytes, in, out, offset*w.size)
}
