package exs_test

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gomx/exs"
)

// TestAcceptWithoutDescriptors: a program that can open no more files hears it from Accept, in Go's manner and in that of
// the manual, and the client that waits comes in when it can.
func TestAcceptWithoutDescriptors(t *testing.T) {
	w := newWorld(t, "mem")
	l := w.listens()
	blocking, _ := w.listener(exs.Stream)
	at, err := blocking.SockName()
	w.ok(err)
	knocks := []func(){w.knocks(l.Addr().(exs.Addr).AddrPort.Port()), w.knocks(at.Port())}
	func() {
		defer w.noFiles()()
		for _, knock := range knocks {
			knock()
		}
		w.within("accepts without descriptors", func() {
			_, err := l.Accept()
			var temporary interface{ Temporary() bool }
			if !errors.Is(err, exs.EMFILE) || !strings.Contains(err.Error(), "ulimit -n") || !errors.As(err, &temporary) || !temporary.Temporary() {
				t.Errorf("Listener.Accept: %v", err)
			}
			_, _, err = blocking.BlockingAccept()
			if !errors.Is(err, exs.EMFILE) || !strings.Contains(err.Error(), "ulimit -n") {
				t.Errorf("Socket.Accept: %v", err)
			}
		})
	}()
	w.within("an accept with descriptors", func() {
		c, err := w.here.Dial("tcp", l.Addr().String())
		w.ok(err)
		defer c.Close()
		s, err := l.Accept()
		for ; errors.Is(err, exs.EMFILE); s, err = l.Accept() {
		}
		w.ok(err)
		w.ok(s.Close())
	})
}

// knocks prepares a client that connects to a port, without exs, and needs nothing more for it.
func (w *world) knocks(port uint16) (knock func()) {
	w.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	w.ok(err)
	w.Cleanup(func() { _ = unix.Close(fd) })
	return func() { w.ok(unix.Connect(fd, &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}})) }
}

// noFiles has the process open no more files, until the function that it returns is called.
func (w *world) noFiles() (end func()) {
	w.Helper()
	var limit unix.Rlimit
	w.ok(unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	none := unix.Rlimit{Max: limit.Max} // also when what earlier tests have left is closed meanwhile
	w.ok(unix.Setrlimit(unix.RLIMIT_NOFILE, &none))
	return func() { w.ok(unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)) }
}

// TestDialWithoutDescriptors: Dial and Listen say what helps.
func TestDialWithoutDescriptors(t *testing.T) {
	w := newWorld(t, "mem")
	l := w.listens()
	defer w.noFiles()()
	_, dialled := w.here.Dial("exs", l.Addr().String())
	_, listens := w.here.Listen("exs", "127.0.0.1:0")
	for _, err := range []error{dialled, listens} {
		if !errors.Is(err, exs.EMFILE) {
			t.Error(err)
		}
		says(t, err, "too many open files", "raise the limit (ulimit -n)")
	}
}
