//go:build linux

package cma

import (
	"crypto/rand"
	"errors"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nonceValue is a package variable, because those never move.
var nonceValue [16]byte

var fillNonce = sync.OnceFunc(func() { _, _ = rand.Read(nonceValue[:]) })

// Nonce returns 16 random bytes of this process and where they lie. A peer that
// can read them there can read our memory, and knows that our process number
// means us. Safe from any goroutine.
func Nonce() (addr uint64, value [16]byte) {
	fillNonce()
	return uint64(uintptr(unsafe.Pointer(&nonceValue))), nonceValue
}

var allowed struct {
	sync.Mutex
	pid    int
	anyone bool
}

var errNoNumber = errors.New("the peer has no process number in this pid namespace")

// AllowPeer lets the process pid read and write our memory where the system asks
// for such leave (ptrace_scope 1 of the Yama module), and does nothing elsewhere.
// The system remembers one process only: from the second one on, the leave is
// widened to all processes of this user, as it is without Yama. Safe from any
// goroutine.
func AllowPeer(pid int) error {
	if scope, ok := ptraceScope(); !ok || scope != scopeRestricted {
		return nil
	}
	if pid <= 0 {
		return errNoNumber
	}
	allowed.Lock()
	defer allowed.Unlock()
	if allowed.anyone || allowed.pid == pid {
		return nil
	}
	whom := uintptr(pid)
	if allowed.pid != 0 {
		whom = ^uintptr(0) // PR_SET_PTRACER_ANY
	}
	err := unix.Prctl(unix.PR_SET_PTRACER, whom, 0, 0, 0)
	if err != nil {
		return os.NewSyscallError("prctl PR_SET_PTRACER", err)
	}
	allowed.pid, allowed.anyone = pid, allowed.pid != 0
	return nil
}
