package coll_test

import (
	"bytes"
	"fmt"
	"testing"

	"gomx/mpi/internal/coll"
)

func TestCopyBytesIsCopy(t *testing.T) {
	from := make([]byte, coll.Cached+2)
	for i := range from {
		from[i] = byte(i ^ i>>8 ^ i>>16 ^ i>>19) // no piece is like another
	}
	for _, n := range []int{0, 1, coll.CachedPiece - 1, coll.CachedPiece, coll.CachedPiece + 1, 3*coll.CachedPiece + 5, coll.Cached, coll.Cached + 1} {
		for _, room := range []int{n, n + 1, max(n-1, 0)} {
			got, want := make([]byte, room), make([]byte, room)
			copy(want, from[:n])
			if copied := coll.CopyBytes(got, from[:n]); copied != min(n, room) || !bytes.Equal(got, want) {
				t.Errorf("%d bytes into %d: returned %d, and the bytes are right: %v", n, room, copied, bytes.Equal(got, want))
			}
		}
	}
}

// BenchmarkCopyBytes copies, and reads what was copied.
func BenchmarkCopyBytes(b *testing.B) {
	for _, n := range []int{256 << 10, 1 << 20, 2 << 20, 8 << 20} {
		dst, src := make([]byte, n), make([]byte, n)
		for name, f := range map[string]func(dst, src []byte) int{
			"pieces": coll.CopyBytes,
			"plain":  func(dst, src []byte) int { return copy(dst, src) },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					f(dst, src)
					bytes.Count(dst, []byte{1})
				}
			})
		}
	}
}
