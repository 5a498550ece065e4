package coll

// What tests of the copy need.
const (
	CachedPiece = cachedPiece
	Cached      = cached
)

// CopyBytes is copyBytes.
func CopyBytes(dst, src []byte) int { return copyBytes(dst, src) }
