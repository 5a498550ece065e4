package exs_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"gomx/exs"
	"gomx/mx"
)

// A program that has messages of its own at the library's endpoint disconnects from the listener's while a dial is at its handshake: what
// identifies the client there is lost with the session, and so it dials again.
func TestDialWhileTheSessionEnds(t *testing.T) {
	w := newWorld(t, "mem")
	ln := w.listens()
	ep, err := w.here.Endpoint()
	w.ok(err)
	var once sync.Once
	at := w.faker(func(client net.Conn) {
		forward(t, client, ln, func(listener net.Conn) {
			once.Do(func() { disconnectWithin(t, ep, client, listener) })
		})
	})
	w.echoed(w.dials(ln, at))
}

// A dial whose session ends each time says so before its time is up.
func TestDialWhileEverySessionEnds(t *testing.T) {
	w := newWorld(t, "mem")
	ln := w.listens()
	ep, err := w.here.Endpoint()
	w.ok(err)
	at := w.faker(func(client net.Conn) {
		forward(t, client, ln, func(listener net.Conn) { disconnectWithin(t, ep, client, listener) })
	})
	d := &exs.Dialer{Library: w.here, Timeout: bound}
	if _, err := d.Dial("exs", at); !errors.Is(err, exs.ECONNRESET) || !strings.Contains(err.Error(), "the session with the listener's endpoint ended") {
		t.Error(err)
	}
}

// forward connects a client with the listener, after meddle has had its way.
func forward(t *testing.T, client net.Conn, ln net.Listener, meddle func(listener net.Conn)) {
	listener, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Error(err)
		return
	}
	defer listener.Close()
	meddle(listener)
	go func() {
		_, _ = io.Copy(listener, client)
		_ = listener.Close()
	}()
	_, _ = io.Copy(client, listener)
}

// disconnectWithin lets a handshake come to the client's last byte, which it keeps, and disconnects the client's endpoint from the listener's.
func disconnectWithin(t *testing.T, ep *mx.Endpoint, client, listener net.Conn) {
	hello := make([]byte, 72)
	for _, way := range [][2]net.Conn{{client, listener}, {listener, client}} {
		_, _ = io.ReadFull(way[0], hello)
		_, _ = way[1].Write(hello)
	}
	_, _ = io.ReadFull(client, hello[:1]) // behind what identifies it at the listener's endpoint
	le := binary.LittleEndian
	peer, err := ep.Connect(le.Uint64(hello[12:]), le.Uint32(hello[20:]), le.Uint32(hello[24:]), bound)
	if err != nil {
		t.Error(err)
		return
	}
	ep.Disconnect(peer)
}
