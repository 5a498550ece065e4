//go:build !unix

package addressfile

import "errors"

var errNoMapping = errors.New("an address table is a file that is mapped, which this system does not offer to gomx")

func mapFile(string) ([]byte, error) { return nil, errNoMapping }

func unmap([]byte) error { return nil }
