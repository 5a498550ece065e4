package errno

import "syscall"

// The domains of the system, which sockets are created in.
const (
	Inet  = syscall.AF_INET
	Inet6 = syscall.AF_INET6
)
