//go:build !unix

package tracefile

import (
	"errors"
	"os"
)

var errNoMapping = errors.New("a message trace needs files that can be mapped, which this system does not offer to gomx")

func mapFile(*os.File, int) ([]byte, error) { return nil, errNoMapping }

func unmap([]byte) error { return nil }
