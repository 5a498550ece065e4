package endpoint

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"gomx/transport/wire"
)

// typeOf returns the type of elements of T.
func typeOf[T any]() wire.AtomicType {
	switch any(*new(T)).(type) {
	case int8:
		return wire.AtomicInt8
	case int16:
		return wire.AtomicInt16
	case int32:
		return wire.AtomicInt32
	case int64:
		return wire.AtomicInt64
	case uint8:
		return wire.AtomicUint8
	case uint16:
		return wire.AtomicUint16
	case uint32:
		return wire.AtomicUint32
	case uint64:
		return wire.AtomicUint64
	case float32:
		return wire.AtomicFloat32
	case float64:
		return wire.AtomicFloat64
	case complex64:
		return wire.AtomicComplex64
	}
	return wire.AtomicComplex128
}

func encoded[T any](t *testing.T, elements []T) []byte {
	t.Helper()
	b, err := binary.Append(nil, binary.NativeEndian, elements)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// checkCombined applies an operation to elements.
func checkCombined[T comparable](t *testing.T, op wire.AtomicOp, there, operands, want []T) {
	t.Helper()
	a := wire.AtomicWhat{Op: op, Type: typeOf[T]()}
	mem, in := encoded(t, there), encoded(t, operands)
	if n, ok := a.Touches(len(in), 0); !ok || n != len(mem) {
		t.Fatalf("%v of %v: %d bytes touch %d, %v", op, a.Type, len(in), n, ok)
	}
	combine(a, mem, in)
	got := make([]T, len(there))
	if _, err := binary.Decode(mem, binary.NativeEndian, got); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v of %v and %v of type %v is %v, want %v", op, there, operands, a.Type, got, want)
	}
}

func checkNumbers[T anInteger | float32 | float64](t *testing.T) {
	t.Helper()
	a, b := []T{0, 1, 6, 7}, []T{3, 0, 5, 7}
	checkCombined(t, wire.AtomicRead, a, b, a)
	checkCombined(t, wire.AtomicReplace, a, b, b)
	checkCombined(t, wire.AtomicSum, a, b, []T{3, 1, 11, 14})
	checkCombined(t, wire.AtomicProduct, a, b, []T{0, 0, 30, 49})
	checkCombined(t, wire.AtomicMin, a, b, []T{0, 0, 5, 7})
	checkCombined(t, wire.AtomicMax, a, b, []T{3, 1, 6, 7})
	checkCombined(t, wire.AtomicCompareSwap, a, []T{0, 2, 6, 6, 8, 8, 9, 9}, []T{8, 1, 9, 7})
}

func checkIntegers[T anInteger](t *testing.T, signed bool) {
	t.Helper()
	checkNumbers[T](t)
	a, b := []T{0, 1, 6, 7}, []T{3, 0, 5, 7}
	checkCombined(t, wire.AtomicAnd, a, b, []T{0, 0, 4, 7})
	checkCombined(t, wire.AtomicOr, a, b, []T{3, 1, 7, 7})
	checkCombined(t, wire.AtomicXor, a, b, []T{3, 1, 3, 0})
	checkCombined(t, wire.AtomicLogicalAnd, a, b, []T{0, 0, 1, 1})
	checkCombined(t, wire.AtomicLogicalOr, a, b, []T{1, 1, 1, 1})
	checkCombined(t, wire.AtomicLogicalXor, a, b, []T{1, 1, 0, 0})
	all := ^T(0) // -1, or the largest
	checkCombined(t, wire.AtomicSum, []T{all}, []T{2}, []T{1})
	if signed {
		checkCombined(t, wire.AtomicMin, []T{1}, []T{all}, []T{all})
		checkCombined(t, wire.AtomicMax, []T{1}, []T{all}, []T{1})
	} else {
		checkCombined(t, wire.AtomicMin, []T{1}, []T{all}, []T{1})
		checkCombined(t, wire.AtomicMax, []T{1}, []T{all}, []T{all})
	}
}

func TestCombine(t *testing.T) {
	checkIntegers[int8](t, true)
	checkIntegers[int16](t, true)
	checkIntegers[int32](t, true)
	checkIntegers[int64](t, true)
	checkIntegers[uint8](t, false)
	checkIntegers[uint16](t, false)
	checkIntegers[uint32](t, false)
	checkIntegers[uint64](t, false)
	checkNumbers[float32](t)
	checkNumbers[float64](t)
	checkCombined(t, wire.AtomicSum, []complex64{1i, 1}, []complex64{2, 3i}, []complex64{2 + 1i, 1 + 3i})
	checkCombined(t, wire.AtomicProduct, []complex64{1i}, []complex64{2 + 1i}, []complex64{-1 + 2i})
	checkCombined(t, wire.AtomicSum, []complex128{1i, 1}, []complex128{2, 3i}, []complex128{2 + 1i, 1 + 3i})
	checkCombined(t, wire.AtomicProduct, []complex128{1i}, []complex128{2 + 1i}, []complex128{-1 + 2i})
	mem := encoded(t, []float64{1})
	combine(wire.AtomicWhat{Op: wire.AtomicMax, Type: wire.AtomicFloat64}, mem, encoded(t, []float64{math.NaN()}))
	if got := float64At(mem); !math.IsNaN(got) {
		t.Error("the greater of 1 and NaN is", got)
	}
}

// TestCombineBytes: elements of no type are one, of whatever size.
func TestCombineBytes(t *testing.T) {
	swap := wire.AtomicWhat{Op: wire.AtomicCompareSwap, Type: wire.AtomicBytes}
	for operands, want := range map[string]string{"helloworld": "world", "hellxworld": "hello"} {
		mem := []byte("hello")
		combine(swap, mem, []byte(operands))
		if !bytes.Equal(mem, []byte(want)) {
			t.Errorf("%q makes hello %q, want %q", operands, mem, want)
		}
	}
	combine(swap, nil, nil)
}

// TestAtomicsThatDoNotFit: what a type does not have, and operands that are no whole number of elements, or lie astride.
func TestAtomicsThatDoNotFit(t *testing.T) {
	for _, c := range []struct {
		op wire.AtomicOp
		t  wire.AtomicType
		n  int
		at uint32
	}{
		{wire.AtomicAnd, wire.AtomicFloat64, 8, 0}, {wire.AtomicLogicalOr, wire.AtomicFloat32, 8, 0}, {wire.AtomicMin, wire.AtomicComplex64, 8, 0},
		{wire.AtomicSum, wire.AtomicBytes, 8, 0}, {13, wire.AtomicInt64, 8, 0}, {255, wire.AtomicInt64, 8, 0}, {wire.AtomicRead, 13, 8, 0},
		{wire.AtomicSum, 255, 8, 0}, {wire.AtomicSum, wire.AtomicInt64, 7, 0}, {wire.AtomicSum, wire.AtomicInt64, 8, 4},
		{wire.AtomicCompareSwap, wire.AtomicInt64, 8, 0}, {wire.AtomicCompareSwap, wire.AtomicBytes, 7, 0},
		{wire.AtomicSum, wire.AtomicComplex128, 8, 0}, {wire.AtomicSum, wire.AtomicComplex64, 8, 2},
	} {
		if _, ok := (wire.AtomicWhat{Op: c.op, Type: c.t}).Touches(c.n, c.at); ok {
			t.Errorf("%v of %v with %d bytes at %d is taken", c.op, c.t, c.n, c.at)
		}
	}
}
