//go:build !linux

package child

import (
	"context"
	"errors"
	"os/exec"
)

// Run fails: other systems have no death signal.
func Run(context.Context, *exec.Cmd) error {
	return errors.ErrUnsupported
}
