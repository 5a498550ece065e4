//go:build linux

package tcp_test

import (
	"bytes"
	"testing"

	"gomx/transport/tcp"
	"gomx/transport/wire"
)

// TestLargestPullFrame sends PullData frames that are larger than the port's buffer, between
// small ones. They arrive whole, whether they have a place or not.
func TestLargestPullFrame(t *testing.T) {
	const frames = 5 // of each size
	for name, c := range map[string]struct {
		has    func(frame int) bool
		landed int
	}{
		"with a place":          {func(int) bool { return true }, frames},
		"without a place":       {func(int) bool { return false }, 0},
		"with one now and then": {func(frame int) bool { return frame%2 == 1 }, frames / 2},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := joined(t, tcp.Options{})
			small, large := pattern(100, 1), pattern(tcp.MaxPullFrame, 2)
			to := &wire.Vec{First: make([]byte, len(large))}
			smalls, larges, landed := 0, 0, 0
			far.place = func(h *wire.Header) *wire.Vec {
				if !c.has(int(h.ID)) {
					return nil
				}
				return to
			}
			check := func(got []byte) {
				if !bytes.Equal(got, large) {
					t.Errorf("large frame %d has other bytes", larges)
				}
				larges++
				clear(to.First)
			}
			far.take = func(_ int32, h *wire.Header, payload []byte) bool {
				if h.Kind == wire.PullData {
					check(payload)
					return true
				}
				if !bytes.Equal(payload, small) {
					t.Errorf("small frame %d has other bytes", smalls)
				}
				smalls++
				return true
			}
			far.land = func(*wire.Header) { landed++; check(to.First) }
			for i := range frames {
				h := largestPull
				h.ID = uint64(i)
				await(t, "room", func() bool { return near.link.Send(&h, &wire.Vec{First: large}, 0) }, near, far)
				h = wire.Header{Kind: wire.Eager, Length: uint32(len(small))}
				await(t, "room", func() bool { return near.link.Send(&h, &wire.Vec{First: small}, 0) }, near, far)
			}
			await(t, "the frames", func() bool { return larges == frames && smalls == frames }, near, far)
			if landed != c.landed {
				t.Errorf("%d frames were read into their place, want %d", landed, c.landed)
			}
		})
	}
}

// largestPull is the header of a PullData frame of the largest size, with all extensions.
var largestPull = wire.Header{
	Kind: wire.PullData, Flags: wire.HasID | wire.HasRange, Length: tcp.MaxPullFrame, Total: tcp.MaxPullFrame,
}

// arrive has e read all that its peer has sent, up to so many unparsed bytes.
func arrive(t *testing.T, e *end, unparsed int) {
	t.Helper()
	await(t, "the bytes", func() bool { n, _ := tcp.Buffered(e.link); return n == unparsed }, e)
	for range 3 { // what is read next finds nothing
		e.port.Poll(e)
	}
}

// TestPullHeaderInTwo has a read end within the header of a large frame that has a place. It needs
// no buffer but the port's.
func TestPullHeaderInTwo(t *testing.T) {
	const firstPart = wire.BaseSize + 6
	e := open(t, loopback(home4, tcp.Options{}), 0)
	c := enter(t, e)
	want := pattern(tcp.MaxPullFrame, 3)
	to := &wire.Vec{First: make([]byte, len(want))}
	e.place = func(*wire.Header) *wire.Vec { return to }
	b := append(largestPull.Append(nil), want...)
	say(t, c, b[:firstPart])
	arrive(t, e, firstPart)
	if _, own := tcp.Buffered(e.link); own != 0 {
		t.Errorf("a buffer of %d bytes for a part of a header", own)
	}
	go func() { _, _ = c.Write(b[firstPart:]) }()
	await(t, "the frame", func() bool { return len(e.landed) == 1 }, e)
	if !bytes.Equal(to.First, want) {
		t.Error("the frame has other bytes")
	}
}

// TestBufferFollowsWhatComes sends a large frame without a place, bit by bit. A peer does not
// get memory for what it has not sent.
func TestBufferFollowsWhatComes(t *testing.T) {
	const least, factor = 128 << 10, 4
	e := open(t, loopback(home4, tcp.Options{}), 0)
	c := enter(t, e)
	want := pattern(tcp.MaxPullFrame, 4)
	var got []byte
	e.take = func(_ int32, _ *wire.Header, payload []byte) bool { got = bytes.Clone(payload); return true }
	b := append(largestPull.Append(nil), want...)
	sent := 0
	for _, upTo := range []int{largestPull.Size(), 1000, 50_000, 140_000, 300_000, 900_000} {
		go func(part []byte) { _, _ = c.Write(part) }(b[sent:upTo])
		sent = upTo
		arrive(t, e, sent)
		if _, own := tcp.Buffered(e.link); own > max(least, factor*sent) {
			t.Errorf("after %d bytes it has a buffer of %d", sent, own)
		}
	}
	go func() { _, _ = c.Write(b[sent:]) }()
	await(t, "the frame", func() bool { return got != nil }, e)
	if !bytes.Equal(got, want) {
		t.Error("the frame has other bytes")
	}
}
