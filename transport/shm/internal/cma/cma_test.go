//go:build linux

package cma_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gomx/transport/shm/internal/cma"
	"gomx/transport/wire"
)

// requireSelf skips where the call is missing or forbidden altogether.
func requireSelf(t testing.TB) {
	t.Helper()
	addr, want := cma.Nonce()
	if err := cma.Probe(os.Getpid(), addr, want); err != nil {
		t.Skip("this machine does not allow process_vm_readv:", err)
	}
}

// cut spreads n bytes of flat over a list of segments, some of them empty.
func cut(r *rand.Rand, flat []byte, segments int) *wire.Vec {
	v := &wire.Vec{}
	for i := range segments {
		n := len(flat)
		if i < segments-1 {
			n = r.IntN(min(n, 2*n/(segments-i)+1) + 1)
		}
		if i == 0 {
			v.First = flat[:n]
		} else {
			v.Rest = append(v.Rest, flat[:n])
		}
		flat = flat[n:]
	}
	return v
}

func described(t testing.TB, s *cma.Scratch, v *wire.Vec) []cma.Remote {
	t.Helper()
	list, n, err := s.ParseDescriptor(cma.AppendDescriptor(nil, v))
	if err != nil || n != v.Len() {
		t.Fatalf("%d bytes of %d, %v", n, v.Len(), err)
	}
	return list
}

func TestCutsDiffer(t *testing.T) {
	requireSelf(t)
	r := rand.New(rand.NewPCG(1, 2))
	var s cma.Scratch
	for round := range 400 {
		size := r.IntN(20000)
		src, dst := make([]byte, size), make([]byte, size+r.IntN(100))
		for i := range src {
			src[i] = byte(r.Uint32())
		}
		v, w := cut(r, src, 1+r.IntN(cma.MaxSegments)), cut(r, dst, 1+r.IntN(cma.MaxSegments))
		n := r.IntN(size + 1)
		var got int
		var err error
		if round%2 == 0 {
			got, err = s.Read(os.Getpid(), w, described(t, &s, v), n)
		} else {
			got, err = s.Write(os.Getpid(), described(t, &s, w), v, n)
		}
		if err != nil || got != n || !bytes.Equal(dst[:n], src[:n]) {
			t.Fatalf("round %d: %d of %d bytes, %v", round, got, n, err)
		}
		if i := bytes.IndexFunc(dst[n:], func(c rune) bool { return c != 0 }); i >= 0 {
			t.Fatalf("round %d: wrote past the end", round)
		}
	}
}

func TestMoreSegmentsThanOneCallTakes(t *testing.T) {
	requireSelf(t)
	src, dst := make([]byte, 4096), make([]byte, 4096)
	for i := range src {
		src[i] = byte(i * 7)
	}
	v, w := &wire.Vec{}, &wire.Vec{}
	for i := range src {
		v.Rest = append(v.Rest, src[i:i+1])
		w.Rest = append(w.Rest, dst[i:i+1])
	}
	var list []cma.Remote
	for i := range v.Rest {
		var s cma.Scratch
		list = append(list, described(t, &s, &wire.Vec{First: v.Rest[i]})...)
	}
	var s cma.Scratch
	if n, err := s.Read(os.Getpid(), w, list, len(src)); n != len(src) || err != nil || !bytes.Equal(src, dst) {
		t.Fatal(n, err)
	}
}

// The largest message is beyond what one call moves. Its segments lie on top of
// each other here, so that it needs little memory.
func TestLargestMessage(t *testing.T) {
	requireSelf(t)
	if testing.Short() {
		t.Skip("moves 4 GiB")
	}
	if strconv.IntSize < 64 {
		t.Skip("needs a 64-bit address space")
	}
	const segments = 128
	part := make([]byte, 1<<32/segments)
	size := segments*len(part) - 1
	whole := func(p []byte) *wire.Vec {
		v := &wire.Vec{First: p[:len(p)-1]}
		for range segments - 1 {
			v.Rest = append(v.Rest, p)
		}
		return v
	}
	part[0], part[len(part)-1] = 1, 2
	dst := make([]byte, len(part))
	var s cma.Scratch
	n, err := s.Read(os.Getpid(), whole(dst), described(t, &s, whole(part)), size)
	if err != nil || n != size || !bytes.Equal(part, dst) {
		t.Fatal(n, err)
	}
}

func TestNothingToCopy(t *testing.T) {
	var s cma.Scratch
	for _, v := range []*wire.Vec{{}, {First: []byte{}}, {Rest: [][]byte{nil, {}}}} {
		list := described(t, &s, v)
		if len(list) != 0 {
			t.Errorf("empty list described as %v", list)
		}
		if n, err := s.Read(os.Getpid(), v, list, 0); n != 0 || err != nil {
			t.Error(n, err)
		}
	}
}

func TestShortLists(t *testing.T) {
	var s cma.Scratch
	four := &wire.Vec{First: make([]byte, 4)}
	list := described(t, &s, four)
	for _, n := range []int{5, -1} {
		_, err := s.Read(os.Getpid(), &wire.Vec{First: make([]byte, 9)}, list, n)
		if n > 0 && !errors.Is(err, cma.ErrShort) {
			t.Errorf("source too short: %v", err)
		}
		if n < 0 && err == nil {
			t.Error("negative length accepted")
		}
	}
	if _, err := s.Read(os.Getpid(), &wire.Vec{First: make([]byte, 3)}, list, 4); !errors.Is(err, cma.ErrShort) {
		t.Errorf("destination too short: %v", err)
	}
}

func TestHoleInTheMiddle(t *testing.T) {
	requireSelf(t)
	area, err := unix.Mmap(-1, 0, 3*4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(area) }()
	if err := unix.Mprotect(area[4096:8192], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	var s cma.Scratch
	list := described(t, &s, &wire.Vec{First: area})
	n, err := s.Read(os.Getpid(), &wire.Vec{First: make([]byte, len(area))}, list, len(area))
	if !errors.Is(err, unix.EFAULT) || n != 4096 {
		t.Fatalf("%d bytes, %v", n, err)
	}
}

func TestNoAllocations(t *testing.T) {
	requireSelf(t)
	r := rand.New(rand.NewPCG(3, 4))
	var s cma.Scratch
	src, dst := cut(r, make([]byte, 30000), 40), cut(r, make([]byte, 30000), 300)
	desc := make([]byte, 0, cma.MaxDescriptor)
	n := testing.AllocsPerRun(20, func() {
		desc = cma.AppendDescriptor(desc[:0], src)
		list, size, err := s.ParseDescriptor(desc)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Read(os.Getpid(), dst, list, size); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestProbeErrors(t *testing.T) {
	requireSelf(t)
	addr, want := cma.Nonce()
	other := want
	other[3]++
	if err := cma.Probe(os.Getpid(), addr, other); !errors.Is(err, cma.ErrWrongProcess) {
		t.Errorf("other nonce: %v", err)
	}
	if err := cma.Probe(os.Getpid(), 16, want); !errors.Is(err, cma.ErrWrongProcess) {
		t.Errorf("unmapped nonce: %v", err)
	}
	if err := cma.Probe(math.MaxInt32, addr, want); !errors.Is(err, unix.ESRCH) || !strings.Contains(err.Error(), "no such process") {
		t.Errorf("no process: %v", err)
	}
	if err := cma.Probe(0, addr, want); err == nil || !strings.Contains(err.Error(), "namespace") {
		t.Errorf("no number: %v", err)
	}
}

func FuzzParseDescriptor(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0, 0})
	f.Add(cma.AppendDescriptor(nil, &wire.Vec{First: make([]byte, 3), Rest: [][]byte{nil, make([]byte, 5)}}))
	f.Add([]byte{1, 1, 0, 0})
	f.Add(append([]byte{1, 0, 0, 0}, bytes.Repeat([]byte{0xff}, 12)...))
	var s cma.Scratch
	f.Fuzz(func(t *testing.T, desc []byte) {
		list, n, err := s.ParseDescriptor(desc)
		if err != nil {
			if list != nil || n != 0 || !errors.Is(err, cma.ErrBadDescriptor) {
				t.Fatalf("error with a value, or the wrong one: %v", err)
			}
			return
		}
		sum := 0
		for _, r := range list {
			sum += int(r.Len)
			if r.Len == 0 || r.Addr+uint64(r.Len) < r.Addr {
				t.Fatalf("accepted %+v", r)
			}
		}
		if sum != n || uint64(n) > math.MaxUint32 || len(list) > cma.MaxSegments || len(desc) != 4+12*len(list) {
			t.Fatalf("%d segments, %d bytes, said %d", len(list), sum, n)
		}
	})
}
