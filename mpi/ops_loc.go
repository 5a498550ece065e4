package mpi

// Loc is a value and where it was found, for MinLoc and MaxLoc (MPI_DOUBLE_INT and its kin).
type Loc[T Real] struct {
	Value T
	Index int
}

// MinLoc takes the smaller value with its index; of equal ones that with the smaller index; NaN if one is
// (MPI_MINLOC).
func MinLoc[T Real](acc, in []Loc[T]) {
	in = in[:len(acc)]
	for i := range acc {
		if in[i].Value < acc[i].Value || in[i].replaces(&acc[i]) {
			acc[i] = in[i]
		}
	}
}

// MaxLoc takes the larger value with its index; of equal ones that with the smaller index; NaN if one is
// (MPI_MAXLOC).
func MaxLoc[T Real](acc, in []Loc[T]) {
	in = in[:len(acc)]
	for i := range acc {
		if in[i].Value > acc[i].Value || in[i].replaces(&acc[i]) {
			acc[i] = in[i]
		}
	}
}

// replaces reports whether l stands for both though it is neither smaller nor larger: a NaN before a number, and the
// smaller index.
func (l *Loc[T]) replaces(other *Loc[T]) bool {
	if l.Value != l.Value || other.Value != other.Value {
		return l.Value != l.Value && (other.Value == other.Value || l.Index < other.Index)
	}
	return l.Value == other.Value && l.Index < other.Index
}
