package endpoint

import (
	"encoding/binary"
	"math"

	"gomx/transport/wire"
)

// combine carries out an atomic operation on the elements of mem, which are in the byte order of the machine. The operands fit, as
// wire.AtomicWhat.Touches has found.
func combine(a wire.AtomicWhat, mem, operands []byte) {
	switch a.Op {
	case wire.AtomicRead:
		return
	case wire.AtomicReplace:
		copy(mem, operands)
		return
	case wire.AtomicCompareSwap:
		compareSwap(a.Type, mem, operands)
		return
	}
	switch a.Type {
	case wire.AtomicInt8:
		integers[int8](a.Op, 1, mem, operands)
	case wire.AtomicInt16:
		integers[int16](a.Op, 2, mem, operands)
	case wire.AtomicInt32:
		integers[int32](a.Op, 4, mem, operands)
	case wire.AtomicInt64:
		integers[int64](a.Op, 8, mem, operands)
	case wire.AtomicUint8:
		integers[uint8](a.Op, 1, mem, operands)
	case wire.AtomicUint16:
		integers[uint16](a.Op, 2, mem, operands)
	case wire.AtomicUint32:
		integers[uint32](a.Op, 4, mem, operands)
	case wire.AtomicUint64:
		integers[uint64](a.Op, 8, mem, operands)
	case wire.AtomicFloat32:
		for ; len(mem) >= 4; mem, operands = mem[4:], operands[4:] {
			putFloat32(mem, number(a.Op, float32At(mem), float32At(operands)))
		}
	case wire.AtomicFloat64:
		for ; len(mem) >= 8; mem, operands = mem[8:], operands[8:] {
			putFloat64(mem, number(a.Op, float64At(mem), float64At(operands)))
		}
	case wire.AtomicComplex64:
		for ; len(mem) >= 8; mem, operands = mem[8:], operands[8:] {
			c := complexNumber(a.Op, complex(float32At(mem), float32At(mem[4:])), complex(float32At(operands), float32At(operands[4:])))
			putFloat32(mem, real(c))
			putFloat32(mem[4:], imag(c))
		}
	case wire.AtomicComplex128:
		for ; len(mem) >= 16; mem, operands = mem[16:], operands[16:] {
			c := complexNumber(a.Op, complex(float64At(mem), float64At(mem[8:])), complex(float64At(operands), float64At(operands[8:])))
			putFloat64(mem, real(c))
			putFloat64(mem[8:], imag(c))
		}
	}
}

// compareSwap replaces each element by its second operand if it equals the first.
func compareSwap(t wire.AtomicType, mem, operands []byte) {
	wanted, others := operands[:len(mem)], operands[len(mem):]
	size := t.Size()
	if t == wire.AtomicBytes {
		size = len(mem)
	}
	for at := 0; at < len(mem); at += size {
		if string(mem[at:at+size]) == string(wanted[at:at+size]) {
			copy(mem[at:at+size], others[at:])
		}
	}
}

type anInteger interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type aNumber interface {
	anInteger | float32 | float64
}

// integers combines integers of so many bytes.
func integers[T anInteger](op wire.AtomicOp, size int, mem, operands []byte) {
	for ; len(mem) >= size; mem, operands = mem[size:], operands[size:] {
		x, y := T(integerAt(mem, size)), T(integerAt(operands, size))
		switch op {
		case wire.AtomicAnd:
			x &= y
		case wire.AtomicOr:
			x |= y
		case wire.AtomicXor:
			x ^= y
		case wire.AtomicLogicalAnd:
			x = truth[T](x != 0 && y != 0)
		case wire.AtomicLogicalOr:
			x = truth[T](x != 0 || y != 0)
		case wire.AtomicLogicalXor:
			x = truth[T]((x != 0) != (y != 0))
		default:
			x = number(op, x, y)
		}
		putInteger(mem, size, uint64(x))
	}
}

func truth[T anInteger](is bool) T {
	if is {
		return 1
	}
	return 0
}

func number[T aNumber](op wire.AtomicOp, x, y T) T {
	switch op {
	case wire.AtomicSum:
		return x + y
	case wire.AtomicProduct:
		return x * y
	case wire.AtomicMin:
		return min(x, y)
	}
	return max(x, y)
}

func complexNumber[T complex64 | complex128](op wire.AtomicOp, x, y T) T {
	if op == wire.AtomicSum {
		return x + y
	}
	return x * y
}

func integerAt(b []byte, size int) uint64 {
	switch size {
	case 8:
		return binary.NativeEndian.Uint64(b)
	case 4:
		return uint64(binary.NativeEndian.Uint32(b))
	case 2:
		return uint64(binary.NativeEndian.Uint16(b))
	}
	return uint64(b[0])
}

func putInteger(b []byte, size int, x uint64) {
	switch size {
	case 8:
		binary.NativeEndian.PutUint64(b, x)
	case 4:
		binary.NativeEndian.PutUint32(b, uint32(x))
	case 2:
		binary.NativeEndian.PutUint16(b, uint16(x))
	default:
		b[0] = byte(x)
	}
}

func float32At(b []byte) float32 { return math.Float32frombits(binary.NativeEndian.Uint32(b)) }

func float64At(b []byte) float64 { return math.Float64frombits(binary.NativeEndian.Uint64(b)) }

func putFloat32(b []byte, f float32) { binary.NativeEndian.PutUint32(b, math.Float32bits(f)) }

func putFloat64(b []byte, f float64) { binary.NativeEndian.PutUint64(b, math.Float64bits(f)) }
