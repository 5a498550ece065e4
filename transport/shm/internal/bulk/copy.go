package bulk

// least is the size, in bytes, from which the string copy pays for its start.
const least = 2 << 10

// Copy is like the built-in copy for memory that does not overlap: it copies as
// many bytes as both have, and returns how many. Safe from any goroutine.
func Copy(dst, src []byte) int {
	n := min(len(dst), len(src))
	if n < least || !stringCopy {
		return copy(dst, src)
	}
	move(&dst[0], &src[0], n)
	return n
}
