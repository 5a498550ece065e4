//go:build linux

package segment_test

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gomx/transport/internal/segment"
)

func pair(t testing.TB) (a, b *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return conn(t, fds[0]), conn(t, fds[1])
}

func conn(t testing.TB, fd int) *net.UnixConn {
	t.Helper()
	f := os.NewFile(uintptr(fd), "socket")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.(*net.UnixConn)
}

func TestFDsCross(t *testing.T) {
	a, b := pair(t)
	m := create(t)
	if err := segment.SendFDs(a, []byte("here"), m.FD(), m.FD()); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 16)
	n, fds, err := segment.RecvFDs(b, buf, 2)
	if err != nil || string(buf[:n]) != "here" || len(fds) != 2 {
		t.Fatalf("%q, %v, %v", buf[:n], fds, err)
	}
	for _, fd := range fds {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("flags %#x, %v: no close-on-exec", flags, err)
		}
		peer, err := segment.Map(fd, size, size)
		if err != nil {
			t.Fatal(err)
		}
		_ = peer.Close()
	}
}

func TestPlainMessageAndEnd(t *testing.T) {
	a, b := pair(t)
	if err := segment.SendFDs(a, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := segment.SendFDs(a, nil, 0); err == nil {
		t.Error("descriptors without a message accepted")
	}
	buf := make([]byte, 4)
	if n, fds, err := segment.RecvFDs(b, buf, 0); n != 1 || fds != nil || err != nil {
		t.Fatal(n, fds, err)
	}
	if _, _, err := segment.TakeFDs(b, buf, 1); !errors.Is(err, segment.ErrNothing) {
		t.Fatalf("though nothing has come: %v", err)
	}
	_ = a.Close()
	if _, _, err := segment.RecvFDs(b, buf, 1); !errors.Is(err, io.EOF) {
		t.Fatalf("after the end: %v", err)
	}
	if _, _, err := segment.TakeFDs(b, buf, 1); !errors.Is(err, io.EOF) {
		t.Fatalf("after the end: %v", err)
	}
}

func TestExcessFDsAreClosed(t *testing.T) {
	m := create(t)
	for sent := 1; sent <= 5; sent++ {
		for limit := range sent {
			a, b := pair(t)
			fds := slices.Repeat([]int{m.FD()}, sent)
			if err := segment.SendFDs(a, []byte("x"), fds...); err != nil {
				t.Fatal(err)
			}
			before := openFDs(t)
			receive := segment.RecvFDs
			if limit%2 == 1 {
				receive = segment.TakeFDs
			}
			_, got, err := receive(b, make([]byte, 1), limit)
			if err == nil || got != nil {
				t.Fatalf("%d sent, limit %d: %v, %v", sent, limit, got, err)
			}
			if after := openFDs(t); after != before {
				t.Fatalf("%d sent, limit %d: %d descriptors before, %d after", sent, limit, before, after)
			}
		}
	}
}

// TestNoRoomForFDs lowers the limit of descriptors, so that none that come can be taken.
func TestNoRoomForFDs(t *testing.T) {
	m := create(t)
	a, b := pair(t)
	if err := segment.SendFDs(a, []byte("x"), m.FD(), m.FD()); err != nil {
		t.Fatal(err)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	_, got, err := segment.RecvFDs(b, make([]byte, 1), 2)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, unix.EMFILE) || got != nil {
		t.Errorf("descriptors %v, error %v, want none and %v", got, err, unix.EMFILE)
	}
}

func TestPeerCred(t *testing.T) {
	a, _ := pair(t)
	pid, uid, err := segment.PeerCred(a)
	if err != nil || pid != os.Getpid() || uid != uint32(os.Getuid()) {
		t.Fatal(pid, uid, err)
	}
	_ = a.Close()
	if _, _, err := segment.PeerCred(a); err == nil {
		t.Error("closed connection has credentials")
	}
}

func openFDs(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("needs /proc:", err)
	}
	return len(entries)
}

func mappings(t testing.TB) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip("needs /proc:", err)
	}
	return strings.Count(string(maps), "gomx-leak")
}

func TestNothingLeaks(t *testing.T) {
	a, b := pair(t)
	round := func() {
		m, err := segment.Create("gomx-leak", size)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if err := segment.SendFDs(a, []byte("x"), m.FD(), m.FD()); err != nil {
			t.Fatal(err)
		}
		_, fds, err := segment.RecvFDs(b, make([]byte, 8), 2)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := segment.Map(fds[0], size*2, size*2); err == nil {
			t.Fatal("wrong size accepted")
		}
		peer, err := segment.Map(fds[1], size, size)
		if err != nil {
			t.Fatal(err)
		}
		peer.Bytes()[0] = 1
		if mappings(t) != 2 {
			t.Fatalf("%d mappings, want 2", mappings(t))
		}
		_ = peer.Close()
	}
	round()
	fds := openFDs(t)
	for range 20 {
		round()
	}
	if after := openFDs(t); after != fds {
		t.Errorf("%d descriptors before, %d after", fds, after)
	}
	if n := mappings(t); n != 0 {
		t.Errorf("%d mappings left", n)
	}
}
