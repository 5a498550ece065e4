package pingpong

import (
	"errors"
	"testing"
)

func FuzzPattern(f *testing.F) {
	f.Add(uint64(0), uint64(1), 13, 12, byte(0x80))
	f.Add(uint64(6), uint64(7), 4096, 0, byte(1))
	f.Fuzz(func(t *testing.T, seed, other uint64, length, place int, change byte) {
		if length < 0 || length > 1<<16 {
			return
		}
		b := make([]byte, length)
		Fill(b, seed)
		if err := Verify(b, seed); err != nil {
			t.Fatal(err)
		}
		if length >= 8 && other != seed && Verify(b, other) == nil {
			t.Errorf("%d bytes of message %d pass for message %d", length, seed, other)
		}
		if change == 0 || place < 0 || place >= length {
			return
		}
		b[place] ^= change
		if err := Verify(b, seed); !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d of %d changed: %v", place, length, err)
		}
	})
}
