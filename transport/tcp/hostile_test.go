//go:build linux

package tcp_test

import (
	"errors"
	"math/rand/v2"
	"net"
	"testing"

	"gomx/internal/testlength"
	"gomx/transport"
	"gomx/transport/tcp"
	"gomx/transport/wire"
)

// TestStrangers sends what is no hello, whole or broken off.
func TestStrangers(t *testing.T) {
	e := open(t, loopback(home4, tcp.Options{}), 0)
	hello := proper(stranger, e.self)
	noise := make([]byte, 4096)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	elsewhere := proper(stranger, transport.Address{NIC: 1, Endpoint: 2})
	for i, b := range [][]byte{
		noise, hello.bytes()[:30], []byte("GET / HTTP/1.1\r\n\r\n" + string(noise)), {0},
		elsewhere.bytes(), append(hello.bytes(), noise[:20]...),
	} {
		c := call(t, e)
		say(t, c, b)
		_ = c.CloseWrite()
		hungUp(t, c)
		await(t, "the count", func() bool { return e.refused() == i+1 })
	}
	if len(e.accepted) != 0 {
		t.Error("a stranger was accepted")
	}
}

// TestFlood has very many strangers who say a little and then nothing. A good peer
// must come through.
func TestFlood(t *testing.T) {
	testlength.Long(t)
	tr := loopback(home4, tcp.Options{})
	e, good := open(t, tr, 0), open(t, tr, 1)
	for range 500 {
		c, err := net.Dial("tcp", listensOn(t, e))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		say(t, c, []byte("gomx"))
	}
	good.dial(e.self)
	if a, _ := e.accept().Peer(); a != good.self {
		t.Errorf("accepted %v, want %v", a, good.self)
	}
}

// TestSilence has very many strangers who say nothing at all.
func TestSilence(t *testing.T) {
	testlength.Long(t)
	tr := loopback(home4, tcp.Options{})
	e, good := open(t, tr, 0), open(t, tr, 1)
	for range 300 {
		c, err := net.Dial("tcp", listensOn(t, e))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	good.dial(e.self)
	if a, _ := e.accept().Peer(); a != good.self {
		t.Errorf("accepted %v, want %v", a, good.self)
	}
}

func frame(h wire.Header, payload string) []byte {
	h.Length = uint32(len(payload))
	return append(h.Append(nil), payload...)
}

func TestHostileFrames(t *testing.T) {
	good := frame(wire.Header{Kind: wire.Eager, Seq: 1}, "fine")
	for name, bad := range map[string][]byte{
		"kind 0":        make([]byte, 24),
		"kind unknown":  frame(wire.Header{Kind: 200}, ""),
		"flags unknown": frame(wire.Header{Kind: wire.Eager, Flags: 0x80}, ""),
		"medium bits":   append([]byte{byte(wire.Eager), 0, 1, 0}, make([]byte, 20)...),
		"too long":      (&wire.Header{Kind: wire.Eager, Length: tcp.MaxFrame + 1}).Append(nil),
		"pull data":     (&wire.Header{Kind: wire.PullData, Length: tcp.MaxPullFrame + 1}).Append(nil),
		"much too long": (&wire.Header{Kind: wire.PullData, Length: 1<<32 - 1}).Append(nil),
	} {
		t.Run(name, func(t *testing.T) {
			e := open(t, loopback(home4, tcp.Options{}), 0)
			c := enter(t, e)
			frames := 0
			e.take = func(_ int32, h *wire.Header, payload []byte) bool {
				frames++
				return h.Seq == 1 && string(payload) == "fine"
			}
			say(t, c, append(append(good, bad...), good...))
			await(t, "the end", func() bool { return e.down() != nil }, e)
			if !errors.Is(e.down(), transport.ErrCorrupt) || frames != 1 || e.count(transport.CorruptFrames) != 1 {
				t.Errorf("after %d frames and %d counted: %v, want 1, 1 and ErrCorrupt",
					frames, e.count(transport.CorruptFrames), e.down())
			}
			e.link.Close()
			hungUp(t, c)
		})
	}
}

func TestFrameBrokenOff(t *testing.T) {
	for _, kind := range []wire.Kind{wire.Eager, wire.PullData} {
		for _, reset := range []bool{false, true} {
			e := open(t, loopback(home4, tcp.Options{}), 0)
			c := enter(t, e)
			to := &wire.Vec{First: make([]byte, 100)}
			e.place = func(*wire.Header) *wire.Vec { return to }
			frames := 0
			e.take = func(int32, *wire.Header, []byte) bool { frames++; return true }
			b := frame(wire.Header{Kind: kind, Flags: wire.HasRange}, "the first half and more of it")
			say(t, c, append(frame(wire.Header{Kind: wire.Bye}, ""), b[:len(b)-10]...))
			await(t, "the frame before", func() bool { return frames == 1 }, e)
			if reset {
				_ = c.SetLinger(0)
			}
			_ = c.Close()
			await(t, "the end", func() bool { return e.down() != nil }, e)
			if !errors.Is(e.down(), transport.ErrPeerDied) || frames != 1 || len(e.landed) != 0 {
				t.Errorf("%v, %d frames, landed %v; want ErrPeerDied, 1 frame", e.down(), frames, e.landed)
			}
		}
	}
}
