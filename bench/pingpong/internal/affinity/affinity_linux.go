package affinity

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

const maxCores = 1024

// Allowed returns the cores that the calling thread may run on, in ascending
// order.
func Allowed() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("asking for the cores of this process: %w", err)
	}
	var cores []int
	for core := range maxCores {
		if set.IsSet(core) {
			cores = append(cores, core)
		}
	}
	return cores, nil
}

// PinThread binds the calling thread to a core. The caller must have locked its
// goroutine to the thread.
func PinThread(core int) error { return pin(0, core) }

// PinProcess binds all threads of the process to a core. Threads that start later
// inherit that from those that start them.
func PinProcess(core int) error {
	for pinned := map[int]bool{}; ; {
		before := len(pinned)
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("listing the threads of this process: %w", err)
		}
		for _, task := range tasks {
			id, err := strconv.Atoi(task.Name())
			if err != nil || pinned[id] {
				continue
			}
			if err := pin(id, core); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
			pinned[id] = true
		}
		// A thread that was not bound yet may have started another meanwhile.
		if len(pinned) == before {
			return nil
		}
	}
}

func pin(thread, core int) error {
	if core < 0 || core >= maxCores {
		return fmt.Errorf("core %d: cores are 0 to %d", core, maxCores-1)
	}
	var set unix.CPUSet
	set.Set(core)
	if err := unix.SchedSetaffinity(thread, &set); err != nil {
		return fmt.Errorf("binding a thread to core %d: %w", core, err)
	}
	return nil
}
