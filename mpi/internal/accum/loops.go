package accum

import "gomx/mpi/internal/elem"

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type real interface{ integer | float32 | float64 }

type number interface{ real | complex64 | complex128 }

// elements returns both as elements. False: they are not aligned, or no whole number.
func elements[T number](acc, in []byte) (a, b []T, ok bool) {
	a, okA := elem.Of[T](acc)
	b, okB := elem.Of[T](in)
	return a, b, okA && okB && len(acc)%elem.Size[T]() == 0
}

func integers[T integer](op Op, acc, in []byte) bool {
	if op < BitAnd {
		return ordered[T](op, acc, in)
	}
	a, b, ok := elements[T](acc, in)
	if !ok {
		return false
	}
	b = b[:len(a)]
	for i := range a {
		a[i] = bitwise(op, a[i], b[i])
	}
	return true
}

func bitwise[T integer](op Op, a, b T) T {
	switch op {
	case BitAnd:
		return a & b
	case BitOr:
		return a | b
	case BitXor:
		return a ^ b
	case LogicalAnd:
		return truth[T](a != 0 && b != 0)
	case LogicalOr:
		return truth[T](a != 0 || b != 0)
	}
	return truth[T]((a != 0) != (b != 0))
}

func truth[T integer](is bool) T {
	if is {
		return 1
	}
	return 0
}

// ordered does Min and Max. With a NaN among the two the result is NaN.
func ordered[T real](op Op, acc, in []byte) bool {
	if op < Min {
		return numbers[T](op, acc, in)
	}
	a, b, ok := elements[T](acc, in)
	if !ok {
		return false
	}
	b = b[:len(a)]
	if op == Min {
		for i := range a {
			a[i] = min(a[i], b[i])
		}
		return true
	}
	for i := range a {
		a[i] = max(a[i], b[i])
	}
	return true
}

func numbers[T number](op Op, acc, in []byte) bool {
	a, b, ok := elements[T](acc, in)
	if !ok {
		return false
	}
	b = b[:len(a)]
	if op == Sum {
		for i := range a {
			a[i] += b[i]
		}
		return true
	}
	for i := range a {
		a[i] *= b[i]
	}
	return true
}
