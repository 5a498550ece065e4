//go:build !linux

package terminal

import "os"

func discard(*os.File) {}
