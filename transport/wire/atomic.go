package wire

// AtomicOp is what an atomic frame does to the elements of a window. The numbers are fixed by docs/wire.md.
type AtomicOp uint8

// The operations.
const (
	AtomicRead        AtomicOp = 0 // the element stays
	AtomicReplace     AtomicOp = 1 // the operand takes its place
	AtomicSum         AtomicOp = 2
	AtomicProduct     AtomicOp = 3
	AtomicMin         AtomicOp = 4 // NaN if one of both is
	AtomicMax         AtomicOp = 5 // likewise
	AtomicAnd         AtomicOp = 6 // bit by bit
	AtomicOr          AtomicOp = 7
	AtomicXor         AtomicOp = 8
	AtomicLogicalAnd  AtomicOp = 9 // 1 or 0
	AtomicLogicalOr   AtomicOp = 10
	AtomicLogicalXor  AtomicOp = 11
	AtomicCompareSwap AtomicOp = 12 // the second operand takes its place if its bytes are those of the first
	atomicOpEnd       AtomicOp = 13
)

var atomicOpNames = [atomicOpEnd]string{
	"read", "replace", "sum", "product", "min", "max", "bitwise and", "bitwise or", "bitwise xor",
	"logical and", "logical or", "logical xor", "compare and swap",
}

// String returns the operation's name in docs/wire.md.
func (o AtomicOp) String() string {
	if o < atomicOpEnd {
		return atomicOpNames[o]
	}
	return "unknown operation"
}

// AtomicType is what the elements of an atomic frame are. The numbers are fixed by docs/wire.md.
type AtomicType uint8

// The types.
const (
	AtomicBytes      AtomicType = 0 // one element of as many bytes as there are
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
	atomicTypeEnd    AtomicType = 13
)

var atomicTypeNames = [atomicTypeEnd]string{
	"bytes", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
	"float32", "float64", "complex64", "complex128",
}

// atomicTypes has the size of an element of each type, and how many bytes its place in a window is a multiple of.
var atomicTypes = [atomicTypeEnd]struct{ size, align uint8 }{
	{1, 1}, {1, 1}, {2, 2}, {4, 4}, {8, 8}, {1, 1}, {2, 2}, {4, 4}, {8, 8}, {4, 4}, {8, 8}, {8, 4}, {16, 8},
}

// String returns the type's name in docs/wire.md.
func (t AtomicType) String() string {
	if t < atomicTypeEnd {
		return atomicTypeNames[t]
	}
	return "unknown type"
}

// Size returns the bytes of an element, 1 for AtomicBytes and 0 for an unknown type.
func (t AtomicType) Size() int {
	if t < atomicTypeEnd {
		return int(atomicTypes[t].size)
	}
	return 0
}

// Align returns what the place of an element in its window is a multiple of, 0 for an unknown type.
func (t AtomicType) Align() int {
	if t < atomicTypeEnd {
		return int(atomicTypes[t].align)
	}
	return 0
}

// Has reports whether an operation exists for elements of a type.
func (t AtomicType) Has(op AtomicOp) bool {
	switch {
	case t >= atomicTypeEnd:
		return false
	case op == AtomicRead, op == AtomicReplace, op == AtomicCompareSwap:
		return true
	case op == AtomicSum, op == AtomicProduct:
		return t != AtomicBytes
	case op == AtomicMin, op == AtomicMax:
		return t != AtomicBytes && t <= AtomicFloat64
	}
	return op < atomicOpEnd && t != AtomicBytes && t <= AtomicUint64
}

// MaxAtomic is the largest payload of an atomic frame, bytes. All media take it in one frame.
const MaxAtomic = 1008

// AtomicWhat says what an atomic frame does; it travels in Total.
type AtomicWhat struct {
	Op    AtomicOp
	Type  AtomicType
	Fetch bool // the answer is what was there before
}

const (
	atomicTypeShift = 8
	atomicFetch     = 1 << 16
)

// Word returns the form of a that travels.
func (a AtomicWhat) Word() uint32 {
	w := uint32(a.Op) | uint32(a.Type)<<atomicTypeShift
	if a.Fetch {
		w |= atomicFetch
	}
	return w
}

// ParseAtomic is the inverse of Word. False: w says something else besides.
func ParseAtomic(w uint32) (AtomicWhat, bool) {
	a := AtomicWhat{AtomicOp(w), AtomicType(w >> atomicTypeShift), w&atomicFetch != 0}
	return a, a.Word() == w
}

// Touches returns how many bytes of the window operands of n bytes are for. False: the operation does not exist for the type, or
// these are no operands of it, or they can't be for elements that begin at that place.
func (a AtomicWhat) Touches(n int, at uint32) (touched int, ok bool) {
	if !a.Type.Has(a.Op) || int(at)%a.Type.Align() != 0 {
		return 0, false
	}
	if a.Op == AtomicCompareSwap {
		if n%2 != 0 {
			return 0, false
		}
		n /= 2
	}
	return n, n%a.Type.Size() == 0
}
