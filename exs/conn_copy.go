package exs

import (
	"io"
	"sync"
)

// copySize is how much ReadFrom and WriteTo move at a time.
const copySize = 128 << 10

var copyBuffers = sync.Pool{New: func() any { return new([copySize]byte) }}

// ReadFrom writes what it reads from r, until that ends. It returns how many bytes these were. An error of r is returned as it is.
func (c *Conn) ReadFrom(r io.Reader) (int64, error) {
	if c.none() {
		return 0, absentNet("write", noConn)
	}
	return pour(onlyWriter{c}, r)
}

// WriteTo writes what it reads from c to w, until c ends. It returns how many bytes these were. An error of w is returned as it is.
func (c *Conn) WriteTo(w io.Writer) (int64, error) {
	if c.none() {
		return 0, absentNet("read", noConn)
	}
	return pour(w, onlyReader{c})
}

// onlyWriter and onlyReader hide the methods above from io.CopyBuffer.
type (
	onlyWriter struct{ io.Writer }
	onlyReader struct{ io.Reader }
)

func pour(w io.Writer, r io.Reader) (int64, error) {
	b := copyBuffers.Get().(*[copySize]byte)
	defer copyBuffers.Put(b)
	return io.CopyBuffer(w, r, b[:])
}
