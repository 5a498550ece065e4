package wire_test

import (
	"bytes"
	"testing"

	"gomx/transport/wire"
)

// vecOf cuts flat as cuts says: each byte is the length of a segment, and the
// last segment takes what is left.
func vecOf(flat, cuts []byte) *wire.Vec {
	v := &wire.Vec{}
	add := func(n int) {
		part := bytes.Clone(flat[:n:n])
		flat = flat[n:]
		if v.First == nil {
			v.First = append([]byte{}, part...)
			return
		}
		v.Rest = append(v.Rest, part)
	}
	for _, c := range cuts[:min(len(cuts), 255)] {
		add(min(int(c), len(flat)))
	}
	add(len(flat))
	return v
}

// flatten is the twin's view of a list.
func flatten(v *wire.Vec) []byte {
	flat := []byte{}
	for i := range v.Segments() {
		flat = append(flat, v.Segment(i)...)
	}
	return flat
}

func numbers(n int, first byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = first + byte(i*7)
	}
	return b
}

// FuzzVec plays gather, scatter and copy against a flat slice.
func FuzzVec(f *testing.F) {
	f.Add(uint16(100), uint16(80), []byte{0, 1, 50}, []byte{3, 0, 0, 9}, uint16(10), uint16(60))
	f.Add(uint16(0), uint16(0), []byte{}, []byte{0}, uint16(0), uint16(0))
	f.Add(uint16(64), uint16(64), []byte{64}, []byte{}, uint16(64), uint16(1))
	f.Fuzz(func(t *testing.T, srcLen, dstLen uint16, srcCuts, dstCuts []byte, off, n uint16) {
		flatSrc, flatDst := numbers(int(srcLen), 1), numbers(int(dstLen), 100)
		src, dst := vecOf(flatSrc, srcCuts), vecOf(flatDst, dstCuts)
		if src.Len() != int(srcLen) || !bytes.Equal(flatten(src), flatSrc) {
			t.Fatalf("%d bytes in the list, want %d", src.Len(), srcLen)
		}

		part := numbers(int(n), 200)
		want := bytes.Clone(part)
		wantN := copy(want, flatSrc[min(int(off), len(flatSrc)):])
		if got := src.Gather(part, int(off)); got != wantN || !bytes.Equal(part, want) {
			t.Fatalf("gathered %d of %d bytes from %d on, want %d", got, n, off, wantN)
		}

		wantN = copy(flatDst[min(int(off), len(flatDst)):], part)
		if got := dst.Scatter(int(off), part); got != wantN || !bytes.Equal(flatten(dst), flatDst) {
			t.Fatalf("scattered %d of %d bytes from %d on, want %d", got, n, off, wantN)
		}

		wantN = copy(flatDst, flatSrc[:min(int(n), len(flatSrc))])
		if got := wire.Copy(dst, src, int(n)); got != wantN || !bytes.Equal(flatten(dst), flatDst) {
			t.Fatalf("copied %d of %d bytes, want %d", got, n, wantN)
		}
		if !bytes.Equal(flatten(src), flatSrc) {
			t.Fatal("the source has changed")
		}
	})
}

func TestAllocations(t *testing.T) {
	h := wire.Header{Kind: wire.Notify, Flags: wire.HasID | wire.HasRange | wire.HasAck, ID: 1, Total: 2, Ack: 3}
	c := wire.ConnectInfo{Version: wire.Version}
	buf := make([]byte, 0, wire.MaxHeader+wire.ConnectSize)
	frame := c.Append(h.Append(nil))
	flat := make([]byte, 1000)
	src, dst := vecOf(flat, []byte{10, 0, 200, 255}), vecOf(flat, []byte{255, 1, 2, 3})
	for name, f := range map[string]func(){
		"Append":       func() { buf = c.Append(h.Append(buf[:0])) },
		"Parse":        func() { sink, _, _ = wire.Parse(frame) },
		"ParseConnect": func() { connectSink, _ = wire.ParseConnect(frame[wire.MaxHeader:]) },
		"Gather":       func() { src.Gather(flat, 1) },
		"Scatter":      func() { dst.Scatter(1, flat) },
		"Copy":         func() { wire.Copy(dst, src, 1000) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}

var (
	sink        wire.Header
	connectSink wire.ConnectInfo
)
