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
	for name, opt := range map[string]tcp.Options{"plain": {}, "TLS": {TLS: newAuthority(t).config()}} {
		for place, has := range map[string]func(frame int) bool{
			"with a place":          func(int) bool { return true },
			"without a place":       func(int) bool { return false },
			"with one now and then": func(frame int) bool { return frame%2 == 1 },
		} {
			t.Run(name+"/"+place, func(t *testing.T) {
				near, far := joined(t, opt)
				small, large := pattern(100, 1), pattern(tcp.MaxPullFrame, 2)
				to := &wire.Vec{First: make([]byte, len(large))}
				smalls, larges := 0, 0
				far.place = func(h *wire.Header) *wire.Vec {
					if !has(int(h.ID)) {
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
				far.land = func(*wire.Header) { check(to.First) }
				for i := range frames {
					h := wire.Header{Kind: wire.PullData, Flags: wire.HasID | wire.HasRange, ID: uint64(i), Length: tcp.MaxPullFrame, Total: tcp.MaxPullFrame}
					await(t, "room", func() bool { return near.link.Send(&h, &wire.Vec{First: large}, 0) }, near, far)
					h = wire.Header{Kind: wire.Eager, Length: uint32(len(small))}
					await(t, "room", func() bool { return near.link.Send(&h, &wire.Vec{First: small}, 0) }, near, far)
				}
				await(t, "the frames", func() bool { return larges == frames && smalls == frames }, near, far)
			})
		}
	}
}
