//go:build linux

package tcp_test

import (
	"net"
	"slices"
	"testing"
	"time"

	"gomx/transport"
	"gomx/transport/tcp"
)

// The places of a lobby, and the time that nobody is thrown out in.
const (
	places    = 64
	leastStay = 100 * time.Millisecond
)

// guests fills all places of e. Those that speak have their hello answered. It
// returns when each may be thrown out.
func guests(t *testing.T, e *end, speaks func(i int) bool) []*net.TCPConn {
	t.Helper()
	var all []*net.TCPConn
	for i := range places {
		c := call(t, e)
		if speaks(i) {
			hello := proper(stranger, e.self)
			hello.session += uint32(i)
			say(t, c, hello.bytes())
			hear(t, c, greetingSize)
		}
		all = append(all, c)
	}
	time.Sleep(2 * leastStay)
	return all
}

// gone reports whether e has hung up on a guest.
func gone(c *net.TCPConn) bool {
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	_, err := c.Read(make([]byte, 1))
	return err != nil && !isTimeout(err)
}

// TestSilentGuestGoesFirst fills the lobby with guests who have come far, and one
// who has said nothing. A newcomer gets his place, and all others stay.
func TestSilentGuestGoesFirst(t *testing.T) {
	const silent = 40
	tr := loopback(home4, tcp.Options{ConnectTimeout: patience})
	e, good := open(t, tr, 0), open(t, tr, 1)
	all := guests(t, e, func(i int) bool { return i != silent })
	good.dial(e.self)
	if a, _ := e.accept().Peer(); a != good.self {
		t.Fatalf("accepted %v, want %v", a, good.self)
	}
	if !gone(all[silent]) {
		t.Error("who says nothing has stayed")
	}
	refusal(t, e, "wanted its place")
	for i, c := range slices.Delete(all, silent, silent+1) {
		_ = c.SetReadDeadline(time.Now().Add(patience))
		say(t, c, make([]byte, proofSize))
		if v := hear(t, c, verdictSize); v[0] != 0 {
			t.Errorf("verdict %d for guest %d, want 0", v[0], i)
		}
		if a, _ := e.accept().Peer(); a != stranger {
			t.Errorf("accepted %v, want %v", a, stranger)
		}
	}
	if n := e.count(transport.RefusedHandshakes); n != 1 {
		t.Errorf("%d refusals, want 1", n)
	}
}

// TestOldestGuestGoes fills the lobby with guests who all have come as far.
func TestOldestGuestGoes(t *testing.T) {
	for name, speaks := range map[string]func(int) bool{
		"silent": func(int) bool { return false }, "speaking": func(int) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			tr := loopback(home4, tcp.Options{ConnectTimeout: patience})
			e, good := open(t, tr, 0), open(t, tr, 1)
			all := guests(t, e, speaks)
			good.dial(e.self)
			if a, _ := e.accept().Peer(); a != good.self {
				t.Fatalf("accepted %v, want %v", a, good.self)
			}
			for i, c := range all {
				if gone(c) != (i == 0) {
					t.Errorf("guest %d is gone: %v", i, i != 0)
				}
			}
		})
	}
}

// TestNewGuestsStay has a newcomer come to guests who have only just come.
func TestNewGuestsStay(t *testing.T) {
	tr := loopback(home4, tcp.Options{ConnectTimeout: patience})
	e, good := open(t, tr, 0), open(t, tr, 1)
	began := time.Now()
	for range places {
		call(t, e)
	}
	good.dial(e.self)
	if took := time.Since(began); took < leastStay {
		t.Errorf("a guest was thrown out within %v", took)
	}
}
