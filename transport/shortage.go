package transport

import (
	"errors"
	"fmt"
	"syscall"
)

// Shortage returns err, made an ErrNoDescriptors if this process, or the system, can open no more files: what a
// process lacks itself is not to be taken for what is wrong with its peers.
func Shortage(err error) error {
	if !errors.Is(err, ErrNoDescriptors) && (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)) {
		return fmt.Errorf("%w: %w", ErrNoDescriptors, err)
	}
	return err
}
