package hungup_test

import (
	"net"
	"testing"
	"time"

	"gomx/exs/internal/hungup"
)

// What By says has nothing to do with deadlines: one that has passed does not hide an end.
func TestBy(t *testing.T) {
	for name, end := range map[string]func(*net.TCPConn){
		"closed": func(c *net.TCPConn) { _ = c.Close() },
		"reset":  func(c *net.TCPConn) { _ = c.SetLinger(0); _ = c.Close() },
		"speaks": func(c *net.TCPConn) { _, _ = c.Write([]byte{1}) },
	} {
		l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		there, err := net.DialTCP("tcp", nil, l.Addr().(*net.TCPAddr))
		if err != nil {
			t.Fatal(err)
		}
		defer there.Close()
		here, err := l.AcceptTCP()
		if err != nil {
			t.Fatal(err)
		}
		defer here.Close()
		_ = here.SetDeadline(time.Unix(1, 0))
		if hungup.By(here) {
			t.Errorf("%s: hung up before it was", name)
		}
		end(there)
		_ = here.SetDeadline(time.Unix(1, 0))
		if !hungup.By(here) {
			t.Errorf("%s: not hung up", name)
		}
	}
}

// TestWithin: who ends a moment later has ended, and who does not has not.
func TestWithin(t *testing.T) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	there, err := net.DialTCP("tcp", nil, l.Addr().(*net.TCPAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	here, err := l.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	if hungup.Within(here, time.Millisecond) {
		t.Error("hung up before it was")
	}
	time.AfterFunc(5*time.Millisecond, func() { _ = there.Close() })
	if !hungup.Within(here, time.Hour) {
		t.Error("not hung up")
	}
}
