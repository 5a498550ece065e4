package mpi

// Loc is a value and where it was found, for MinLoc and MaxLoc (MPI_DOUBLE_INT and its kin).
type Loc[T Real] struct {
	Value T
	Index int
}

// MinLoc takes the smaller value with its index; of equal ones that with the smaller index
// (MPI_MINLOC).
func MinLoc[T Real](acc, in []Loc[T]) {
	in = in[:len(acc)]
	for i := range acc {
		if in[i].Value < acc[i].Value || in[i].Value == acc[i].Value && in[i].Index < acc[i].Index {
			acc[i] = in[i]
		}
	}
}

// MaxLoc takes the larger value with its index; of equal ones that with the smaller index
// (MPI_MAXLOC).
func MaxLoc[T Real](acc, in []Loc[T]) {
	in = in[:len(acc)]
	for i := range acc {
		if in[i].Value > acc[i].Value || in[i].Value == acc[i].Value && in[i].Index < acc[i].Index {
			acc[i] = in[i]
		}
	}
}
