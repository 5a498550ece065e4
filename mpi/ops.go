package mpi

// Op combines the values of two ranks, or groups of ranks: acc[i] becomes acc[i] op in[i], where acc belongs to the
// lower ranks. It must be associative, but need not be commutative: the order of ranks is kept, and the same call among
// the same number of ranks yields the same bits every time. The functions here, such as Sum, are passed as they are:
// mpi.Allreduce(c, in, out, mpi.Sum). A function of the program must not keep the slices, and may be called from
// several goroutines. In a nonblocking reduction it runs inside whichever call of the rank makes progress: it must make
// no calls of this package but Abort, and must not wait for a goroutine that does. If it panics, a blocking call panics, and the
// request of a nonblocking one ends with an error whose cause is a PanicError. It must not
// end its goroutine (runtime.Goexit, or t.FailNow of a test), which may be the endpoint's own.
type Op[T any] func(acc, in []T)

// Integer are the types that have bits.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// Real are the types that have an order.
type Real interface {
	Integer | ~float32 | ~float64
}

// Number are the types that can be added and multiplied.
type Number interface {
	Real | ~complex64 | ~complex128
}

// Truth are the types that are true, or not zero, or are not.
type Truth interface {
	~bool | Integer
}

// Sum adds (MPI_SUM).
func Sum[T Number](acc, in []T) {
	in = in[:len(acc)]
	for len(acc) >= 4 && len(in) >= 4 {
		a, b := acc[:4:4], in[:4:4]
		a[0] += b[0]
		a[1] += b[1]
		a[2] += b[2]
		a[3] += b[3]
		acc, in = acc[4:], in[4:]
	}
	for i := range acc {
		acc[i] += in[i]
	}
}

// Prod multiplies (MPI_PROD).
func Prod[T Number](acc, in []T) {
	in = in[:len(acc)]
	for i := range acc {
		acc[i] *= in[i]
	}
}

// Min takes the smaller one (MPI_MIN); NaN if one is.
func Min[T Real](acc, in []T) {
	in = in[:len(acc)]
	for i := range acc {
		acc[i] = min(acc[i], in[i])
	}
}

// Max takes the larger one (MPI_MAX); NaN if one is.
func Max[T Real](acc, in []T) {
	in = in[:len(acc)]
	for i := range acc {
		acc[i] = max(acc[i], in[i])
	}
}

// BitAnd keeps bits that are set in both (MPI_BAND).
func BitAnd[T Integer](acc, in []T) {
	in = in[:len(acc)]
	for i := range acc {
		acc[i] &= in[i]
	}
}

// BitOr keeps bits that are set in one of them (MPI_BOR).
func BitOr[T Integer](acc, in []T) {
	in = in[:len(acc)]
	for i := range acc {
		acc[i] |= in[i]
	}
}

// BitXor keeps bits that differ (MPI_BXOR).
func BitXor[T Integer](acc, in []T) {
	in = in[:len(acc)]
	for i := range acc {
		acc[i] ^= in[i]
	}
}
