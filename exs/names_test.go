package exs_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"gomx/exs"
)

// Clients of several libraries of a host connect to one listener: no two connections have the same address there, while they are open.
func TestRemoteAddressesDiffer(t *testing.T) {
	w := newWorld(t, "shm")
	ln, err := w.there.Listen("exs", "127.0.0.1:0")
	w.ok(err)
	defer ln.Close()
	var clients []*exs.Library
	for range 4 {
		clients = append(clients, w.open())
	}
	of := map[string]bool{}
	for range 150 {
		for _, l := range clients {
			d := &exs.Dialer{Library: l, Timeout: bound}
			a, err := d.Dial("exs", ln.Addr().String())
			w.ok(err)
			t.Cleanup(func() { _ = a.Close() })
			b, err := ln.Accept()
			w.ok(err)
			t.Cleanup(func() { _ = b.Close() })
			name := b.RemoteAddr().String()
			if of[name] || a.LocalAddr().String() != name {
				w.Fatalf("a client is %v, and %v at the listener, which %d others are, too: %v", a.LocalAddr(), name, len(of), of[name])
			}
			of[name] = true
		}
	}
}

// A client whose address another connection has, as it may happen, connects over TCP, and directly again with another one. The address is free
// when the connection is closed.
func TestAddressOfAnotherConnection(t *testing.T) {
	w := newWorld(t, "shm")
	ln, err := w.there.Listen("exs", "127.0.0.1:0")
	w.ok(err)
	defer ln.Close()
	dial := func(l *exs.Library) (a, b net.Conn) {
		d := &exs.Dialer{Library: l, Timeout: bound}
		a, err := d.Dial("exs", ln.Addr().String())
		w.ok(err)
		b, err = ln.Accept()
		w.ok(err)
		return a, b
	}
	other := w.open()
	for _, l := range []*exs.Library{w.here, other} {
		a, b := dial(l)
		w.ok(a.Close())
		w.ok(b.Close())
	}
	exs.CountPortsFrom(w.here, 2000)
	a, b := dial(w.here)
	exs.CountPortsFrom(other, 2000)
	c, d := dial(other)
	if b.RemoteAddr().String() == d.RemoteAddr().String() || other.Direct() != 0 {
		t.Errorf("%v and %v, %d directly", b.RemoteAddr(), d.RemoteAddr(), other.Direct())
	}
	for _, x := range []net.Conn{a, b, c, d} {
		w.ok(x.Close())
	}
	exs.CountPortsFrom(other, 2000)
	a, b = dial(other)
	if want := "127.0.0.1:2001"; b.RemoteAddr().String() != want || other.Direct() != 1 {
		t.Errorf("%v, want %s, %d directly", b.RemoteAddr(), want, other.Direct())
	}
	w.ok(a.Close())
	w.ok(b.Close())
}

// An address that means all of the host's leads to a listener on any of its loopback addresses.
func TestDialOfAllAddresses(t *testing.T) {
	w := newWorld(t, "shm")
	for _, at := range []string{"127.0.0.1:0", "0.0.0.0:0", "localhost:0", ":0"} {
		ln, err := w.there.Listen("exs", at)
		w.ok(err)
		_, port, err := net.SplitHostPort(ln.Addr().String())
		w.ok(err)
		for _, to := range []string{"0.0.0.0", "", "::"} {
			a, b := w.dials(ln, net.JoinHostPort(to, port))
			w.echoed(a, b)
		}
		w.ok(ln.Close())
	}
}

// LocalAddr may be a port alone, and is refused if there is no such address.
func TestDialFromAPort(t *testing.T) {
	w := newWorld(t, "shm")
	ln, err := w.there.Listen("exs", "127.0.0.1:0")
	w.ok(err)
	defer ln.Close()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	w.ok(err)
	port := free.Addr().(*net.TCPAddr).Port
	w.ok(free.Close())
	for _, from := range []net.Addr{&net.TCPAddr{Port: port}, exs.Addr{AddrPort: netip.AddrPortFrom(netip.Addr{}, uint16(port))}} {
		d := &exs.Dialer{Library: w.here, Timeout: bound, LocalAddr: from}
		a, err := d.Dial("exs", ln.Addr().String())
		w.ok(err)
		b, err := ln.Accept()
		w.ok(err)
		if want := fmt.Sprint("127.0.0.1:", port); b.RemoteAddr().String() != want || a.LocalAddr().String() != want {
			t.Errorf("%v, %v, want %s", b.RemoteAddr(), a.LocalAddr(), want)
		}
		w.ok(a.Close())
		w.ok(b.Close())
	}
	for _, from := range []*net.TCPAddr{{Port: 70001}, {IP: net.IPv4(127, 0, 0, 1), Port: -1}, {IP: net.IP{1, 2, 3}, Port: 5}} {
		d := &exs.Dialer{Library: w.here, Timeout: bound, LocalAddr: from}
		if _, err := d.Dial("exs", ln.Addr().String()); err == nil || !strings.Contains(err.Error(), "LocalAddr") {
			t.Errorf("from %v: %v", from, err)
		}
	}
}

// A dial whose time is over before it begins, since Control took it, does not succeed, also where it would be direct.
func TestControlTakesTheTime(t *testing.T) {
	w := newWorld(t, "shm")
	ln, err := w.there.Listen("exs", "127.0.0.1:0")
	w.ok(err)
	defer ln.Close()
	a, b := w.dials(ln, ln.Addr().String()) // from now on directly
	w.echoed(a, b)
	for range 5 {
		d := &exs.Dialer{Library: w.here, Timeout: 20 * time.Millisecond, Control: func(string, string, *exs.Socket) error {
			time.Sleep(40 * time.Millisecond)
			return nil
		}}
		if _, err := d.Dial("exs", ln.Addr().String()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a dial without time: %v", err)
		}
	}
}
