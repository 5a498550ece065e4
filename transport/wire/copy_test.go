package wire

import (
	"bytes"
	"testing"
)

// TestCopyBytes: as many bytes as copy moves, and no others, for all small lengths of both sides, also where they overlap.
func TestCopyBytes(t *testing.T) {
	for room := range 24 {
		for length := range 24 {
			for shift := range 9 {
				from := []byte("abcdefghijklmnopqrstuvwxyzabcdefghij")
				want := bytes.Clone(from)
				n, m := CopyBytes(from[shift:shift+room], from[:length]), copy(want[shift:shift+room], want[:length])
				if n != m || !bytes.Equal(from, want) {
					t.Errorf("%d bytes into %d, %d behind: %d, %q; want %d, %q", length, room, shift, n, from, m, want)
				}
			}
		}
	}
}
