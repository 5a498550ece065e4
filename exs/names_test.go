package exs_test

import (
	"net"
	"testing"

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
