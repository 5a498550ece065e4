package accum

import (
	"reflect"

	"gomx/mpi/internal/elem"
)

// Op is an operation: acc becomes acc op in.
type Op uint8

// The operations. Replace and None take any elements, the others numbers: Min and Max
// none that are complex, the logical and bitwise ones only integers. Logical ones make 0
// or 1.
const (
	None    Op = iota // acc stays
	Replace           // acc becomes in
	Sum
	Prod
	Min
	Max
	BitAnd
	BitOr
	BitXor
	LogicalAnd
	LogicalOr
	LogicalXor
	ops
)

var opNames = [ops]string{"none", "replace", "sum", "prod", "min", "max", "bitwise and", "bitwise or", "bitwise xor",
	"logical and", "logical or", "logical xor"}

// String returns the name of the operation.
func (o Op) String() string {
	if o < ops {
		return opNames[o]
	}
	return "unknown operation"
}

// Kind is what elements are, the same on all hosts. 0: no numbers.
type Kind uint8

// The kinds.
const (
	Int8 Kind = iota + 1
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float32
	Float64
	Complex64
	Complex128
)

// KindOf returns the kind of T, and 0 if it is no type of numbers.
func KindOf[T any]() Kind {
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return bySize[T](Int8, Int16, Int32, Int64)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return bySize[T](Uint8, Uint16, Uint32, Uint64)
	case reflect.Float32:
		return Float32
	case reflect.Float64:
		return Float64
	case reflect.Complex64:
		return Complex64
	case reflect.Complex128:
		return Complex128
	}
	return 0
}

func bySize[T any](one, two, four, eight Kind) Kind {
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

// Can reports whether an operation exists for elements of a kind.
func Can(k Kind, op Op) bool {
	switch op {
	case None, Replace:
		return true
	case Sum, Prod:
		return k >= Int8 && k <= Complex128
	case Min, Max:
		return k >= Int8 && k <= Float64
	}
	return op < ops && k >= Int8 && k <= Uint64
}

// Apply combines element by element. Both are aligned as elements of the kind are, and
// have the same length, a whole number of elements. False: the operation does not exist
// for the kind, or one of that does not hold; nothing has changed then.
func Apply(k Kind, op Op, acc, in []byte) bool {
	if len(acc) != len(in) || !Can(k, op) {
		return false
	}
	switch {
	case op == None:
		return true
	case op == Replace:
		copy(acc, in)
		return true
	}
	switch k {
	case Int8:
		return integers[int8](op, acc, in)
	case Int16:
		return integers[int16](op, acc, in)
	case Int32:
		return integers[int32](op, acc, in)
	case Int64:
		return integers[int64](op, acc, in)
	case Uint8:
		return integers[uint8](op, acc, in)
	case Uint16:
		return integers[uint16](op, acc, in)
	case Uint32:
		return integers[uint32](op, acc, in)
	case Uint64:
		return integers[uint64](op, acc, in)
	case Float32:
		return ordered[float32](op, acc, in)
	case Float64:
		return ordered[float64](op, acc, in)
	case Complex64:
		return numbers[complex64](op, acc, in)
	}
	return numbers[complex128](op, acc, in)
}
