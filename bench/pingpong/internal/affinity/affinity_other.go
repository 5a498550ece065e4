//go:build !linux

package affinity

import (
	"errors"
	"fmt"
	"runtime"
)

func unsupported() error {
	return fmt.Errorf("binding to cores on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Allowed returns errors.ErrUnsupported.
func Allowed() ([]int, error) { return nil, unsupported() }

// PinThread returns errors.ErrUnsupported.
func PinThread(int) error { return unsupported() }

// PinProcess returns errors.ErrUnsupported.
func PinProcess(int) error { return unsupported() }
