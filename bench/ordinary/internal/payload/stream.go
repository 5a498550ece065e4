package payload

import (
	"bytes"
	"fmt"
	"io"
)

// Read implements io.Reader.
func (r *Reader) Read(b []byte) (int, error) {
	if r.at == r.length {
		return 0, io.EOF
	}
	n := int(min(int64(len(b)), r.length-r.at))
	fill(b[:n], r.at)
	r.at += int64(n)
	return n, nil
}

// Write implements io.Writer.
func (c *Checker) Write(b []byte) (int, error) {
	if c.Whole || len(b) <= 2*edge {
		return len(b), c.look(b)
	}
	if err := c.look(b[:edge]); err != nil {
		return 0, err
	}
	c.at += int64(len(b) - 2*edge)
	return len(b), c.look(b[len(b)-edge:])
}

// look wants b to be what follows.
func (c *Checker) look(b []byte) error {
	for len(b) > 0 {
		want := block()[c.at%period:]
		want = want[:min(len(want), len(b))]
		if !bytes.Equal(b[:len(want)], want) {
			return fmt.Errorf("received other bytes than were sent, near offset %d", c.at)
		}
		b, c.at = b[len(want):], c.at+int64(len(want))
	}
	return nil
}

// End is an error if there were more or fewer bytes than these.
func (c *Checker) End(length int64) error {
	if c.at != length {
		return fmt.Errorf("received %d bytes of %d", c.at, length)
	}
	return nil
}
