//go:build !unix

package usage

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

// Self returns errors.ErrUnsupported.
func Self() (time.Duration, error) {
	return 0, fmt.Errorf("processor time on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
