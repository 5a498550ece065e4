//go:build !linux

package process

import (
	"errors"
	"os"
	"syscall"
)

// Attributes make a child the first of a group.
func Attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

var errNoBinding = errors.New("this system does not bind processes to cores")

// Cores is for Linux.
func Cores() ([]int, error) { return nil, errNoBinding }

// Bind is for Linux.
func Bind([]int) error { return errNoBinding }

func signalsOfSystem() []os.Signal { return nil }
