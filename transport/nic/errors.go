package nic

import (
	"errors"
	"fmt"
)

var (
	// ErrHostNotFound means that a name or a NIC id leads to no host. Errors of
	// this kind carry the name and wrap the reason.
	ErrHostNotFound = errors.New("host not found")

	// ErrBoardUnknown means that a host has no board of that number, or that no
	// local board has that NIC id.
	ErrBoardUnknown = errors.New("board unknown")
)

var (
	errNameEmpty     = errors.New("the name is empty")
	errNameTooLong   = fmt.Errorf("the name is longer than %d bytes", MaxNameLen)
	errNameMalformed = errors.New("neither a host, host:board, an address nor a NIC id")
	errNoAddress     = errors.New("no address that can be reached from another host")
	errNoLookup      = errors.New("no look-up of names available")
	errNotAHost      = errors.New("not the address of one host")
	errNumeric       = errors.New("a number is neither a host nor an address")
	errIDTaken       = errors.New("its NIC id is already in use for another address")
)

func hostNotFound(name string, reason error) error {
	const shown = MaxNameLen
	if len(name) > shown {
		name = name[:shown] + "..."
	}
	return fmt.Errorf("%w: %q: %w", ErrHostNotFound, name, reason)
}

func boardUnknown(n uint64) error {
	return fmt.Errorf("%w: number %d", ErrBoardUnknown, n)
}
