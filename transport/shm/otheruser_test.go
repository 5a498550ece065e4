//go:build linux

package shm

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A process of another user is refused before it has sent a message.
func TestOtherUserIsRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	p, r := target(t)
	dialled := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread is nobody's from now on, and ends with the goroutine
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, 65534, 65534, 65534); errno != 0 {
			dialled <- errno
			return
		}
		c, err := net.DialUnix("unixpacket", nil, socketName(p.self))
		if err == nil {
			_, err = c.Read(make([]byte, 1))
			_ = c.Close()
			if err == nil {
				t.Error("the stranger got an answer")
			}
			err = nil
		}
		dialled <- err
	}()
	if err := <-dialled; err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "the refusal is counted", func() bool { return r.refused() == 1 })
	who := fmt.Sprintf("process %d", os.Getpid())
	if why := r.refusals[0].Error(); !strings.Contains(why, who) || !strings.Contains(why, "user 65534") {
		t.Errorf("the refusal %q does not name %s and its user", why, who)
	}
	welcome(t, p, r)
}
