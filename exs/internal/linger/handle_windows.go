package linger

import "syscall"

// handle is what the system's calls take.
type handle = syscall.Handle
