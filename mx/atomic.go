package mx

import (
	"fmt"

	"gomx/transport/wire"
)

// AtomicOp is what an atomic operation does to each element of a window.
type AtomicOp uint8

// The operations. Read, Replace and CompareSwap take elements of any type, the others numbers: Min and Max none that are
// complex, the bitwise and logical ones only integers. Integers wrap around.
const (
	AtomicRead        AtomicOp = 0  // the element stays: an atomic read
	AtomicReplace     AtomicOp = 1  // the operand takes its place: a swap, or an atomic write
	AtomicSum         AtomicOp = 2  // the operand is added: fetch-and-add
	AtomicProduct     AtomicOp = 3  // it is multiplied by the operand
	AtomicMin         AtomicOp = 4  // the smaller of both; NaN if one is
	AtomicMax         AtomicOp = 5  // the larger of both; NaN if one is
	AtomicAnd         AtomicOp = 6  // the bits that are set in both
	AtomicOr          AtomicOp = 7  // the bits that are set in one of them
	AtomicXor         AtomicOp = 8  // the bits that differ
	AtomicLogicalAnd  AtomicOp = 9  // 1 if neither is 0, otherwise 0
	AtomicLogicalOr   AtomicOp = 10 // 1 if one of them is not 0, otherwise 0
	AtomicLogicalXor  AtomicOp = 11 // 1 if one alone is 0, otherwise 0
	AtomicCompareSwap AtomicOp = 12 // the second operand takes its place if its bytes are those of the first
)

// String returns the name of the operation.
func (o AtomicOp) String() string { return wire.AtomicOp(o).String() }

// AtomicType is what the elements of an atomic operation are. Their bytes are in the order of the machines, which must have the same.
type AtomicType uint8

// The types.
const (
	AtomicBytes      AtomicType = 0 // one element of any size: all bytes together
	AtomicInt8       AtomicType = 1
	AtomicInt16      AtomicType = 2
	AtomicInt32      AtomicType = 3
	AtomicInt64      AtomicType = 4
	AtomicUint8      AtomicType = 5
	AtomicUint16     AtomicType = 6
	AtomicUint32     AtomicType = 7
	AtomicUint64     AtomicType = 8
	AtomicFloat32    AtomicType = 9
	AtomicFloat64    AtomicType = 10
	AtomicComplex64  AtomicType = 11
	AtomicComplex128 AtomicType = 12
)

// String returns the name of the type.
func (t AtomicType) String() string { return wire.AtomicType(t).String() }

// Size returns the bytes of an element: 1 for AtomicBytes, 0 for an unknown type.
func (t AtomicType) Size() int { return wire.AtomicType(t).Size() }

// Has reports whether an operation exists for elements of the type.
func (t AtomicType) Has(op AtomicOp) bool { return wire.AtomicType(t).Has(wire.AtomicOp(op)) }

// MaxAtomic is how many bytes of operands an atomic operation takes at most; of a compare-and-swap, both operands together.
const MaxAtomic = 1008

// Iatomic combines operands, element by element, with a window of dest, from the window's byte offset on. It completes when that is done.
// operands must not change until Ibuffered says so or it completes. With AtomicCompareSwap the first half of operands has what the elements are
// compared with, and the second half what takes their place.
//
// Each operation is carried out as a whole: no other atomic operation of any endpoint on the windows of dest, of dest itself among
// them, sees a part of it. The owner takes part in that by calls on its own endpoint's address. Puts, gets and
// plain reads and writes of the owner are not atomic with it, though of an element of up to 8 bytes they see the old or the new value, if it is aligned in
// memory, too: the memory of the window begins at a multiple of 8, as that of Alloc and of a []int64 does. It is carried out
// exactly once, also over a link that breaks and heals; if it ends because the session is over, it was carried out once or not at all.
// Atomic operations of this endpoint towards dest, small puts and operations that are started after them keep their order.
//
// The peer carries it out when it polls next, or its library's own goroutine does; its program takes no part. One on a window of
// the endpoint itself is complete at once, and makes one pass of the progression, so that a program may wait for a peer's change in a loop of such calls.
// Permissions: WindowRead for AtomicRead, WindowWrite for the others.
//
// The status has the number of bytes of the window, and the codes are those of Iput; StatusBadAtomic is that of a peer that does not have the operation.
// Up to 256 gets, puts and atomic operations are under way to a peer at a time, and more wait.
//
// Errors: ErrBadParamVal if the type has no such operation, if the size of the operands is not a multiple of the element size, or if offset is not aligned
// as they must be, which is to their size, for complex numbers to that of their parts, and for AtomicBytes to 1; ErrBadSegMem for more
// than MaxAtomic bytes; and those of Iput. Safe from any goroutine.
func (ep *Endpoint) Iatomic(op AtomicOp, typ AtomicType, operands []byte, dest EndpointAddr, w WindowHandle, offset uint32, matchInfo uint64, context any) (Request, error) {
	return ep.atomic("iatomic on", atomicOf(op, typ, false), operands, dest, w, offset, matchInfo, context)
}

// IfetchAtomic is Iatomic that brings back what was there before: when it is complete, that is in buf, from its beginning. Until then buf,
// which has the operands, must not be touched. After a failure, what it holds is undefined. Permissions: WindowRead, and WindowWrite unless
// it is AtomicRead, whose operands count for nothing but their length.
func (ep *Endpoint) IfetchAtomic(op AtomicOp, typ AtomicType, buf []byte, dest EndpointAddr, w WindowHandle, offset uint32, matchInfo uint64, context any) (Request, error) {
	return ep.atomic("ifetchatomic on", atomicOf(op, typ, true), buf, dest, w, offset, matchInfo, context)
}

// Atomic is Iatomic without a request, as Put is Iput without one. operands may be reused when it returns. Nothing
// reports when they are combined, or that the peer has refused them, but they are combined before any operation that
// this endpoint starts later towards dest. It returns false if other operations are queued before it, or if the peer
// can't be reached; use Iatomic then. Errors: those of Iatomic. Safe from any goroutine.
func (ep *Endpoint) Atomic(op AtomicOp, typ AtomicType, operands []byte, dest EndpointAddr, w WindowHandle, offset uint32) (bool, error) {
	a := atomicOf(op, typ, false)
	if dest.ep != ep {
		return false, ep.fail("atomic on", dest.String(), ep.owns(dest))
	}
	sent, err := ep.d.AtomicNow(a, operands, dest.a, w.ID, offset)
	if err != nil {
		return false, ep.fail("atomic on", dest.String(), unfit(a, operands, offset, err))
	}
	return sent, nil
}

// FetchAtomic is IfetchAtomic on the window itself, from a byte offset on, which is done when it returns, without a request and without a pass of the
// progression. Errors: those of IfetchAtomic; StatusBadRDMAWindow if the window is closed, and the other codes that a request would end with.
// Safe from any goroutine, also where SingleThreaded is set.
func (w *Window) FetchAtomic(op AtomicOp, typ AtomicType, buf []byte, offset uint32) error {
	a := atomicOf(op, typ, true)
	code, err := w.ep.d.AtomicHere(a, buf, w.id, offset)
	switch {
	case err != nil:
		err = unfit(a, buf, offset, err)
	case StatusCode(code) != StatusSuccess:
		err = StatusCode(code)
	}
	return w.ep.fail("fetchatomic on window", "", err)
}

func atomicOf(op AtomicOp, typ AtomicType, fetch bool) wire.AtomicWhat {
	return wire.AtomicWhat{Op: wire.AtomicOp(op), Type: wire.AtomicType(typ), Fetch: fetch}
}

func (ep *Endpoint) atomic(call string, a wire.AtomicWhat, b []byte, dest EndpointAddr, w WindowHandle, offset uint32, matchInfo uint64, context any) (Request, error) {
	if dest.ep != ep {
		return Request{}, ep.fail(call, dest.String(), ep.owns(dest))
	}
	h, err := ep.d.Atomic(a, b, dest.a, w.ID, offset, matchInfo, context)
	if err != nil {
		return Request{}, ep.fail(call, dest.String(), unfit(a, b, offset, err))
	}
	return Request{ep, h}, nil
}

// unfit says what is wrong with an atomic operation that the engine refuses, and what would be right.
func unfit(a wire.AtomicWhat, b []byte, offset uint32, err error) error {
	code := codeOf(err)
	switch align := a.Type.Align(); {
	case code == ErrBadSegMem:
		return fmt.Errorf("%w: %d bytes of operands: at most %d go in one operation, more in several", code, len(b), MaxAtomic)
	case code != ErrBadParamVal:
		return err
	case !a.Type.Has(a.Op):
		return fmt.Errorf("%w: %v does not exist for elements of type %v", code, a.Op, a.Type)
	case int(offset)%align != 0:
		return fmt.Errorf("%w: offset %d: elements of type %v begin at multiples of %d", code, offset, a.Type, align)
	case a.Op == wire.AtomicCompareSwap:
		return fmt.Errorf("%w: %d bytes of operands: %v takes two for each element, and elements of type %v have %d bytes", code, len(b), a.Op, a.Type, a.Type.Size())
	}
	return fmt.Errorf("%w: %d bytes of operands: elements of type %v have %d", code, len(b), a.Type, a.Type.Size())
}
