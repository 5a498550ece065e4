//go:build linux

package tcp

import "math/bits"

// Buffers of links come from their port and go back to it once they are empty, so
// that a link that is idle has none.
const (
	leastBuffer  = 10 // log2 of the smallest, bytes
	bufferSizes  = 11 // up to 1 MiB
	spareBuffers = 8  // kept of each size
	spareBytes   = 512 << 10
)

type pool struct{ spare [bufferSizes][][]byte }

func sizeClass(n int) int { return max(bits.Len(uint(n-1)), leastBuffer) - leastBuffer }

// get returns a buffer of n bytes or more, as long as it is.
func (p *pool) get(n int) []byte {
	c := sizeClass(n)
	if c >= bufferSizes {
		return make([]byte, n)
	}
	if k := len(p.spare[c]); k > 0 {
		b := p.spare[c][k-1]
		p.spare[c] = p.spare[c][:k-1]
		return b
	}
	return make([]byte, 1<<(c+leastBuffer))
}

// put takes back what get gave, cut in whatever way but at the front.
func (p *pool) put(b []byte) {
	b = b[:cap(b)]
	c := sizeClass(len(b))
	if c >= bufferSizes || len(b) != 1<<(c+leastBuffer) {
		return
	}
	if k := len(p.spare[c]); k < spareBuffers && (k == 0 || k*len(b) < spareBytes) {
		p.spare[c] = append(p.spare[c], b)
	}
}

// grow returns a buffer that begins with the bytes of b and has room for n more.
func (p *pool) grow(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	bigger := p.get(max(len(b)+n, 2*cap(b)))
	k := copy(bigger, b)
	if cap(b) > 0 {
		p.put(b)
	}
	return bigger[:k]
}
