package coll

// The built-in copy stores from 1 MiB on past the caches, on amd64. That is right for what no cache holds. What does fit
// takes up to twice as long so, and so does whoever reads it next: it is copied in pieces for which the built-in copy
// stores as usual.
const (
	cachedPiece = 512 << 10
	cached      = 8 << 20
)

// copyBytes is like the built-in copy for memory that does not overlap.
func copyBytes(dst, src []byte) (n int) {
	total := min(len(dst), len(src))
	if total > cached {
		return copy(dst, src)
	}
	for n < total {
		n += copy(dst[n:min(n+cachedPiece, total)], src[n:])
	}
	return total
}
