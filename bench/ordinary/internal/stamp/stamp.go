// Package stamp marks messages of bench/ordinary with numbers, at so little cost that those of a few bytes can be told apart too.
package stamp

import "fmt"

// Put writes a number, without what does not fit, into the first byte and the last one.
func Put(buf []byte, n int) {
	if len(buf) > 0 {
		buf[0], buf[len(buf)-1] = byte(n), byte(n)
	}
}

// Check returns an error if the message has another number.
func Check(buf []byte, n int) error {
	if len(buf) > 0 && (buf[0] != byte(n) || buf[len(buf)-1] != byte(n)) {
		return fmt.Errorf("message %d begins with %d and ends with %d", n, buf[0], buf[len(buf)-1])
	}
	return nil
}
