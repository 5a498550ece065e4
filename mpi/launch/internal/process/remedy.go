package process

import (
	"errors"
	"io/fs"
	"syscall"
)

// Remedy says what to do about the error of starting a program that is there, or nothing.
func Remedy(err error) string {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return "no program of this machine: a script begins with #! and the path of its interpreter"
	case errors.Is(err, fs.ErrNotExist):
		return "its interpreter is not there: check the line that begins with #!, or the dynamic linker that the program was built for"
	case errors.Is(err, syscall.E2BIG):
		return "shorten its arguments and the environment"
	case errors.Is(err, syscall.EAGAIN):
		return "raise the limit of processes (ulimit -u), or start fewer ranks"
	case errors.Is(err, syscall.EMFILE):
		return "raise the limit of open files (ulimit -n): a rank takes several"
	}
	return ""
}
