package process

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Attributes make a child the first of a group, which ends when the thread that has started it does.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// maxCores is what a set of cores holds.
const maxCores = 1024

// Cores returns the cores that the calling thread may run on, in ascending order.
func Cores() (cores []int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("asking for the cores of this process: %w", err)
	}
	for core := range maxCores {
		if set.IsSet(core) {
			cores = append(cores, core)
		}
	}
	return cores, nil
}

// Bind binds the calling thread, and children that it starts from now on, to some cores.
func Bind(cores []int) error {
	var set unix.CPUSet
	for _, core := range cores {
		set.Set(core)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("binding to cores %d: %w", cores, err)
	}
	return nil
}

// The real-time signals that a Go program can hear of. Those before them belong to the C library.
const firstRealTime, lastRealTime = 35, 64

// signalsOfSystem are those of Linux that Signals has besides.
func signalsOfSystem() []os.Signal {
	all := []os.Signal{unix.SIGPWR, unix.SIGSTKFLT}
	for s := syscall.Signal(firstRealTime); s <= lastRealTime; s++ {
		all = append(all, s)
	}
	return all
}
