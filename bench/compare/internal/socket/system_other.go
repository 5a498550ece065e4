//go:build !linux

package socket

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// conn can't be had here.
type conn int

// Available returns nil, or why there can be no measurement here.
func Available() error { return fmt.Errorf("on %s: %w", runtime.GOOS, errors.ErrUnsupported) }

func connect() (ours, theirs conn, err error) { return 0, 0, Available() }

func inherited() conn { return 0 }

func (conn) file() *os.File { return nil }

func (conn) hangUp() {}

func (conn) write([]byte) error { return Available() }

func (conn) read([]byte) error { return Available() }

func pinThread(int) error { return Available() }
