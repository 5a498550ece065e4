package mx_test

import (
	"os"
	"strconv"
	"syscall"
	"testing"
)

// breakLinks ends the TCP connections of this process with a port, as a network does that resets them, and returns how many there were.
func breakLinks(t *testing.T, port int) (n int) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range list {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		if peer, err := syscall.Getpeername(fd); err == nil && portOfAddr(peer) == port {
			if err := syscall.Shutdown(fd, syscall.SHUT_RDWR); err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	return n
}

func portOfAddr(a syscall.Sockaddr) int {
	switch a := a.(type) {
	case *syscall.SockaddrInet4:
		return a.Port
	case *syscall.SockaddrInet6:
		return a.Port
	}
	return -1
}

// TestLogOfBrokenLink breaks the link of a session, which goes on over another one.
func TestLogOfBrokenLink(t *testing.T) {
	w := newWorld(t, "tcp")
	param, log := logger()
	a, b, toB, _ := w.pair(param)
	w.succeed(a, w.isend(a, pattern(8, 0), toB, 1))
	w.succeed(b, w.irecv(b, make([]byte, 8), 1, exact))
	_, idOfA := place(w, a)
	_, idOfB := place(w, b)
	if breakLinks(t, portOfID(t, idOfA))+breakLinks(t, portOfID(t, idOfB)) == 0 {
		t.Fatal("there is no connection")
	}
	sides := " endpoint=" + a.String() + " peer=" + b.String()
	w.line(log, []string{"level=WARN", `msg="link broken"` + sides, "cause="}, a, b)
	send := w.isend(a, pattern(8, 0), toB, 2)
	w.succeed(b, w.irecv(b, make([]byte, 8), 2, exact))
	w.succeed(a, send)
	w.line(log, []string{"level=INFO", `msg="session resumed"` + sides + " transport=tcp"}, a, b)
}
