//go:build linux

package segment_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gomx/transport/internal/segment"
)

const size = 3 * 4096

func create(t testing.TB) *segment.Mem {
	t.Helper()
	m, err := segment.Create("gomx-test", size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func duplicate(t testing.TB, fd int) int {
	t.Helper()
	other, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return other
}

func TestBothMappingsShowTheSameBytes(t *testing.T) {
	m := create(t)
	peer, err := segment.Map(duplicate(t, m.FD()), size, size)
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	copy(m.Bytes()[5000:], "hello")
	if got := string(peer.Bytes()[5000:5005]); got != "hello" {
		t.Fatalf("peer reads %q", got)
	}
}

func TestSealedSegmentKeepsItsSize(t *testing.T) {
	m := create(t)
	for _, n := range []int64{0, 4096, size * 2} {
		if err := unix.Ftruncate(m.FD(), n); err != unix.EPERM {
			t.Errorf("ftruncate to %d: %v, want EPERM", n, err)
		}
	}
}

func TestMapRefuses(t *testing.T) {
	m := create(t)
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unsealed, err := unix.MemfdCreate("unsealed", unix.MFD_ALLOW_SEALING|unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(unsealed)
	if err := unix.Ftruncate(unsealed, size); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name        string
		fd          int
		least, most int
		says        string
	}{
		{"too small", duplicate(t, m.FD()), size + 1, size * 2, "want 12289"},
		{"too large", duplicate(t, m.FD()), 1, size - 1, "want 1"},
		{"unsealed", duplicate(t, unsealed), size, size, "not sealed against shrinking"},
		{"a file", duplicate(t, int(file.Fd())), 1, size, "seal"},
		{"no descriptor", -1, 1, size, "bad file descriptor"},
	} {
		got, err := segment.Map(c.fd, c.least, c.most)
		if err == nil {
			_ = got.Close()
			t.Errorf("%s: accepted", c.name)
		} else if !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error is %q, want %q in it", c.name, err, c.says)
		}
		if _, err := unix.FcntlInt(uintptr(c.fd), unix.F_GETFD, 0); err != unix.EBADF {
			t.Errorf("%s: descriptor still open", c.name)
		}
	}
}

func TestCreateRefusesSizes(t *testing.T) {
	for _, n := range []int{0, -1} {
		if _, err := segment.Create("x", n); err == nil {
			t.Errorf("size %d accepted", n)
		}
	}
	if _, err := segment.CreateReserve("x", 4096, 8192); err == nil {
		t.Error("least above size accepted")
	}
}

func TestReserveIsSparseAndFallsBack(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("needs a 64-bit address space")
	}
	const least = 1 << 20
	gib := 1 << 30
	want, tooMuch := 16*gib, gib*gib>>10
	m, err := segment.CreateReserve("gomx-test", want, least)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.Bytes()[m.Len()-1] = 1
	var st unix.Stat_t
	if err := unix.Fstat(m.FD(), &st); err != nil {
		t.Fatal(err)
	}
	if used := st.Blocks * 512; used > 4<<20 {
		t.Errorf("one byte written, %d bytes used", used)
	}
	less, err := segment.CreateReserve("gomx-test", tooMuch, least)
	if err != nil {
		t.Fatal(err)
	}
	defer less.Close()
	if less.Len() >= tooMuch || less.Len() < least {
		t.Errorf("got %d bytes", less.Len())
	}
}

func TestFileSizeLimitIsAnErrorNotASignal(t *testing.T) {
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1 << 20, Max: old.Max}); err != nil {
		t.Skip("limit can't be set:", err)
	}
	_, err := segment.Create("gomx-test", 2<<20)
	m, reserveErr := segment.CreateReserve("gomx-test", 64<<20, 4096)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err == nil || !strings.Contains(err.Error(), "ulimit -f") {
		t.Errorf("error is %v", err)
	}
	if reserveErr != nil {
		t.Fatal(reserveErr)
	}
	defer m.Close()
	if m.Len() != 1<<20 {
		t.Errorf("fell back to %d bytes", m.Len())
	}
}

func TestPunchHole(t *testing.T) {
	m := create(t)
	b := m.Bytes()
	for i := range b {
		b[i] = 1
	}
	m.CloseFD() // a hole needs no descriptor
	if err := m.PunchHole(100, 2*4096); err != nil {
		t.Fatal(err)
	}
	for i := range b {
		want := byte(1)
		if i >= 4096 && i < 8192 { // the only whole page in the range
			want = 0
		}
		if b[i] != want {
			t.Fatalf("byte %d is %d", i, b[i])
		}
	}
	for _, r := range [][2]int{{-1, 1}, {0, -1}, {0, size + 1}, {size + 1, 0}, {1, int(^uint(0) >> 1)}} {
		if m.PunchHole(r[0], r[1]) == nil {
			t.Errorf("hole %v accepted", r)
		}
	}
}

func TestContains(t *testing.T) {
	m := create(t)
	b := m.Bytes()
	for _, c := range []struct {
		b   []byte
		off int64
		ok  bool
	}{
		{b, 0, true}, {b[1:2], 1, true}, {b[size-1:], size - 1, true},
		{b[:0], 0, false}, {nil, 0, false}, {make([]byte, 8), 0, false},
	} {
		off, ok := m.Contains(c.b)
		if ok != c.ok || ok && off != c.off {
			t.Errorf("%d bytes: %d, %v; want %d, %v", len(c.b), off, ok, c.off, c.ok)
		}
	}
	_ = m.Close()
	if _, ok := m.Contains(make([]byte, 1)); ok {
		t.Error("a closed segment contains something")
	}
}

func TestCloseTwice(t *testing.T) {
	m := create(t)
	for range 2 {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if m.Len() != 0 || m.FD() != -1 {
		t.Errorf("closed: %d bytes, descriptor %d", m.Len(), m.FD())
	}
}

func TestWords(t *testing.T) {
	b := create(t).Bytes()
	for off := -16; off <= size+16; off++ {
		w4, ok4 := segment.Word32(b, off)
		if want := off >= 0 && off+4 <= size && off%4 == 0; ok4 != want {
			t.Fatalf("Word32 at %d: %v", off, ok4)
		}
		w8, ok8 := segment.Word64(b, off)
		if want := off >= 0 && off+8 <= size && off%8 == 0; ok8 != want {
			t.Fatalf("Word64 at %d: %v", off, ok8)
		}
		if (w4 != nil) != ok4 || (w8 != nil) != ok8 {
			t.Fatalf("at %d: pointer and ok differ", off)
		}
	}
	if _, ok := segment.Word32(b[1:], 0); ok {
		t.Error("unaligned slice accepted")
	}
	if _, ok := segment.Word64(b[4:], 4); !ok {
		t.Error("offset aligned by its slice refused")
	}
	for _, off := range []int{int(^uint(0) >> 1), -int(^uint(0)>>1) - 1} {
		if _, ok := segment.Word64(b, off); ok {
			t.Errorf("offset %d accepted", off)
		}
	}
	if _, ok := segment.Word32(nil, 0); ok {
		t.Error("nil accepted")
	}
}
