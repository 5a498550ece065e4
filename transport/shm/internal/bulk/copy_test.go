package bulk

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestCopyIsCopy compares with the built-in copy, at sizes and offsets around
// those where something changes, and looks that nothing beside is written.
func TestCopyIsCopy(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	from := make([]byte, 300<<10)
	for i := range from {
		from[i] = byte(random.Uint32())
	}
	got, want := make([]byte, len(from)), make([]byte, len(from))
	for _, n := range []int{0, 1, 7, least - 1, least, least + 1, 4096, 65536 + 13, 256 << 10} {
		for range 50 {
			at, to := random.IntN(200), random.IntN(200)
			clear(got)
			clear(want)
			wrote := Copy(got[to:to+n], from[at:at+n])
			copy(want[to:to+n], from[at:at+n])
			if wrote != n || !bytes.Equal(got, want) {
				t.Fatalf("%d bytes from offset %d to %d: returned %d, and the bytes are right: %v",
					n, at, to, wrote, bytes.Equal(got, want))
			}
		}
	}
}

func TestCopyStopsAtTheShorter(t *testing.T) {
	long, short := bytes.Repeat([]byte{1}, 3*least), make([]byte, 2*least)
	if n := Copy(short, long); n != len(short) {
		t.Errorf("into %d bytes: copied %d", len(short), n)
	}
	clear(short)
	if n := Copy(long, short); n != len(short) {
		t.Errorf("from %d bytes: copied %d", len(short), n)
	}
	if i := bytes.IndexByte(long, 1); i != len(short) {
		t.Errorf("%d bytes were written, want %d", i, len(short))
	}
	if n := Copy(nil, long) + Copy(long, nil); n != 0 {
		t.Errorf("nothing to copy, copied %d", n)
	}
}

func TestCopyAllocatesNothing(t *testing.T) {
	dst, src := make([]byte, 64<<10), make([]byte, 64<<10)
	if n := testing.AllocsPerRun(100, func() { Copy(dst, src) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkCopy copies within one core's cache, which is the least that there is
// to gain; between cores, see mx_pingpong -alloc.
func BenchmarkCopy(b *testing.B) {
	for _, n := range []int{2 << 10, 64 << 10, 512 << 10} {
		dst, src := make([]byte, n), make([]byte, n)
		for name, f := range map[string]func(dst, src []byte) int{
			"bulk":  Copy,
			"plain": func(dst, src []byte) int { return copy(dst, src) },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					f(dst, src)
				}
			})
		}
	}
}
