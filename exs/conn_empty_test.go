package exs_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"gomx/exs"
)

// What is empty is treated as package net treats it.

func TestListenAnywhere(t *testing.T) {
	w := newWorld(t, "one library")
	l, err := w.here.Listen("tcp", "")
	w.ok(err)
	a, err := net.ResolveTCPAddr("tcp", l.Addr().String())
	if err != nil || a.Port == 0 {
		t.Errorf("%v, %v", a, err)
	}
	w.ok(l.Close())
}

func TestEmptyReadsAndWrites(t *testing.T) {
	w := newWorld(t, "one library")
	l, err := w.there.Listen("tcp", "127.0.0.1:0")
	w.ok(err)
	c, err := w.here.Dial("tcp", l.Addr().String())
	w.ok(err)
	if n, err := c.Write(nil); n != 0 || err != nil {
		t.Errorf("an empty write: %d, %v", n, err)
	}
	w.ok(c.SetReadDeadline(time.Unix(1, 0)))
	if n, err := c.Read(nil); n != 0 || err != nil {
		t.Errorf("an empty read behind the deadline: %d, %v", n, err)
	}
	w.ok(c.(*exs.Conn).CloseWrite())
	_, err = c.Write(nil)
	refused(t, err, exs.EPIPE)
	w.ok(c.Close())
	if _, err := c.Read(nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("an empty read of what is closed: %v", err)
	}
}
