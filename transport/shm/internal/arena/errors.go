package arena

import (
	"errors"
	"fmt"
)

var (
	// ErrFull means that no hole is large enough. The error is a *FullError.
	ErrFull = errors.New("arena full")

	// ErrNotAllocated means that no block starts at an offset: it never did, or
	// was freed before.
	ErrNotAllocated = errors.New("not what was allocated, or freed before")

	// ErrBadSize means that a block of zero or fewer bytes was asked for.
	ErrBadSize = errors.New("bad block size")
)

// FullError says why a block didn't fit. All figures are bytes.
type FullError struct {
	// Asked is what the caller asked for.
	Asked int64
	// Free is what isn't in use, scattered or not.
	Free int64
	// Largest is the longest run of free pages.
	Largest int64
}

// Error gives all three figures.
func (e *FullError) Error() string {
	return fmt.Sprintf("%v: %d bytes asked, %d free, the largest hole has %d", ErrFull, e.Asked, e.Free, e.Largest)
}

// Unwrap returns ErrFull.
func (e *FullError) Unwrap() error { return ErrFull }

func notAllocated(off int64) error {
	return fmt.Errorf("%w: offset %d", ErrNotAllocated, off)
}
