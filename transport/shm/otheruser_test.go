//go:build linux

package shm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gomx/transport"
)

// A dialler whom only the other side finds to be another user is told so, wherever the handshake breaks off.
func TestDiallerHearsOfTheOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	p, r := target(t)
	for round := range 50 { // the refusal crosses our hello, or comes before it
		dialled := make(chan error)
		go func() {
			runtime.LockOSThread() // for good
			if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, 0, 65534, 0); errno != 0 {
				dialled <- errno
				return
			}
			c, err := net.DialUnix("unixpacket", nil, socketName(p.self))
			if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, 0, 0, 0); errno != 0 {
				err = errno
			}
			if err != nil {
				dialled <- err
				return
			}
			defer func() { _ = c.Close() }()
			if round%2 == 0 {
				waitUntil(t, "the dialler is refused", func() bool { return r.refused() == round+1 })
			}
			_, err = p.greet(context.Background(), c, p.self)
			dialled <- err
		}()
		if err := <-dialled; !errors.Is(err, transport.ErrRefused) || !strings.Contains(err.Error(), "it belongs to user 0") {
			t.Fatal(err)
		}
		waitUntil(t, "the refusal is counted", func() bool { return r.refused() == round+1 })
	}
}

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
			var b [helloSize]byte
			n, _ := c.Read(b[:])
			_ = c.Close()
			if parseRefusal(b[:n]) == nil {
				t.Errorf("the stranger got %q", b[:n])
			}
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
