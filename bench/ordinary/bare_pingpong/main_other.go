//go:build !linux

// Command bare_pingpong sends a message to and fro with nothing on top of the medium. It needs Linux.
package main

import (
	"errors"

	"gomx/bench/internal/figure"
)

func main() {
	figure.Fail(errors.New("bare_pingpong needs Linux, where threads can be bound to cores"))
}
