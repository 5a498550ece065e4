//go:build linux

package tcp_test

import (
	"net"
	"slices"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/transport/tcp"
)

// The limit of pending handshakes, and the time in which none is evicted.
const (
	maxPending = 64
	leastStay  = 100 * time.Millisecond
)

// pending starts as many handshakes with e as may be pending. Those that speak get
// their hello answered. It returns when each may be evicted.
func pending(t *testing.T, e *end, speaks func(i int) bool) []*net.TCPConn {
	t.Helper()
	var all []*net.TCPConn
	for i := range maxPending {
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

// gone reports whether the other side hangs up on c within a time.
func gone(c *net.TCPConn, within time.Duration) bool {
	_ = c.SetReadDeadline(time.Now().Add(within))
	_, err := c.Read(make([]byte, 1))
	return err != nil && !isTimeout(err)
}

// TestSilentHandshakeIsEvictedFirst has pending handshakes that have advanced, and one
// silent one. A new connection evicts the silent one, and all others stay.
func TestSilentHandshakeIsEvictedFirst(t *testing.T) {
	const silent = 40
	tr := loopback(home4, tcp.Options{ConnectTimeout: patience})
	e, good := open(t, tr, 0), open(t, tr, 1)
	all := pending(t, e, func(i int) bool { return i != silent })
	good.dial(e.self)
	if a, _ := e.accept().Peer(); a != good.self {
		t.Fatalf("accepted %v, want %v", a, good.self)
	}
	if !gone(all[silent], patience) {
		t.Error("the silent handshake was not evicted")
	}
	refusal(t, e, "was evicted for another peer")
	for i, c := range slices.Delete(all, silent, silent+1) {
		_ = c.SetReadDeadline(time.Now().Add(patience))
		say(t, c, make([]byte, proofSize))
		if v := hear(t, c, verdictSize); v[0] != 0 {
			t.Errorf("verdict %d for handshake %d, want 0", v[0], i)
		}
		if a, _ := e.accept().Peer(); a != stranger {
			t.Errorf("accepted %v, want %v", a, stranger)
		}
	}
	if n := e.refused(); n != 1 {
		t.Errorf("%d refusals, want 1", n)
	}
}

// TestOldestHandshakeIsEvicted has pending handshakes that all have advanced as far.
func TestOldestHandshakeIsEvicted(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	for name, speaks := range map[string]func(int) bool{
		"silent": func(int) bool { return false }, "speaking": func(int) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			tr := loopback(home4, tcp.Options{ConnectTimeout: patience})
			e, good := open(t, tr, 0), open(t, tr, 1)
			all := pending(t, e, speaks)
			good.dial(e.self)
			if a, _ := e.accept().Peer(); a != good.self {
				t.Fatalf("accepted %v, want %v", a, good.self)
			}
			if !gone(all[0], patience) {
				t.Error("the oldest handshake was not evicted")
			}
			for i, c := range all[1:] {
				if gone(c, 10*time.Millisecond) {
					t.Errorf("handshake %d is gone", i+1)
				}
			}
		})
	}
}

// TestNewHandshakesStay has one more connection come while all pending handshakes are new.
func TestNewHandshakesStay(t *testing.T) {
	tr := loopback(home4, tcp.Options{ConnectTimeout: patience})
	e, good := open(t, tr, 0), open(t, tr, 1)
	began := time.Now()
	for range maxPending {
		call(t, e)
	}
	good.dial(e.self)
	if took := time.Since(began); took < leastStay {
		t.Errorf("a handshake was evicted within %v", took)
	}
}
