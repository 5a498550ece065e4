//go:build linux

package cma_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"gomx/transport/shm/internal/cma"
	"gomx/transport/wire"
)

// The tests here talk to a second process: this binary with childKey in its
// environment. As "owner" it describes memory of its own on standard output; as
// "stranger" it probes its parent, whose address and nonce follow.
const childKey = "GOMX_CMA_TEST_CHILD"

func TestMain(m *testing.M) {
	role, rest, _ := strings.Cut(os.Getenv(childKey), " ")
	switch role {
	case "owner":
		own()
	case "stranger":
		probeParent(rest)
	default:
		os.Exit(m.Run())
	}
}

const owned = 4 << 20

func pattern() []byte {
	b := make([]byte, owned)
	for i := range b {
		b[i] = byte(i*31 + i>>12)
	}
	return b
}

// own describes the pattern, serves until its standard input ends, and then says
// what the first bytes have become.
func own() {
	_ = cma.AllowPeer(os.Getppid())
	b := pattern()
	addr, nonce := cma.Nonce()
	desc := cma.AppendDescriptor(nil, &wire.Vec{First: b[:owned/3], Rest: [][]byte{nil, b[owned/3:]}})
	fmt.Printf("%d %x %x\n", addr, nonce, desc)
	_, _ = io.Copy(io.Discard, os.Stdin)
	fmt.Printf("%s\n", b[:5])
}

func probeParent(args string) {
	var addr uint64
	var nonce []byte
	if _, err := fmt.Sscanf(args, "%d %x", &addr, &nonce); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cma.Probe(os.Getppid(), addr, [16]byte(nonce)))
}

type owner struct {
	pid  int
	list []cma.Remote
	end  func() string // ends the process; returns its last words
}

func startOwner(t testing.TB, s *cma.Scratch) owner {
	t.Helper()
	child := exec.Command("/proc/self/exe")
	child.Env = append(os.Environ(), childKey+"=owner")
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	o := owner{pid: child.Process.Pid, end: func() string {
		_ = in.Close()
		words, _ := lines.ReadString('\n')
		_ = child.Wait()
		return words
	}}
	t.Cleanup(func() { o.end() })
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(line)
	addr, _ := strconv.ParseUint(fields[0], 10, 64)
	nonce, _ := hex.DecodeString(fields[1])
	desc, _ := hex.DecodeString(fields[2])
	if err := cma.Probe(o.pid, addr, [16]byte(nonce)); err != nil {
		t.Skip("this machine does not allow single copies:", err)
	}
	list, n, err := s.ParseDescriptor(desc)
	if err != nil || n != owned {
		t.Fatal(n, err)
	}
	o.list = list
	return o
}

func TestOtherProcess(t *testing.T) {
	var s cma.Scratch
	o := startOwner(t, &s)
	got := make([]byte, owned)
	v := &wire.Vec{First: got[:1000], Rest: [][]byte{got[1000:77777], got[77777:]}}
	if n, err := s.Read(o.pid, v, o.list, owned); n != owned || err != nil {
		t.Fatal(n, err)
	}
	if !bytes.Equal(got, pattern()) {
		t.Fatal("other bytes than the owner's")
	}
	if n, err := s.Write(o.pid, o.list, &wire.Vec{First: []byte("wr"), Rest: [][]byte{[]byte("ote")}}, 5); n != 5 || err != nil {
		t.Fatal(n, err)
	}
	if words := o.end(); words != "wrote\n" {
		t.Fatalf("owner sees %q", words)
	}
	if _, err := s.Read(o.pid, v, o.list, owned); err == nil {
		t.Fatal("read from a process that has ended")
	}
}

func TestOtherUserIsRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to start a process of another user")
	}
	addr, nonce := cma.Nonce()
	child := exec.Command("/proc/self/exe")
	child.Env = append(os.Environ(), fmt.Sprintf("%s=stranger %d %x", childKey, addr, nonce))
	child.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	child.Dir = "/"
	out, err := child.Output()
	if err != nil {
		t.Skip("no process of another user can be started:", err)
	}
	t.Logf("%s", out)
	for _, want := range []string{"operation not permitted", "it runs as user 0, this one as 65534"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("error is %q, want %q in it", out, want)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, size := range []int{4 << 10, 64 << 10, 256 << 10, 2 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			var s cma.Scratch
			o := startOwner(b, &s)
			v := &wire.Vec{First: make([]byte, size)}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Read(o.pid, v, o.list[1:], size); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What the system call alone costs.
func BenchmarkBareCall(b *testing.B) {
	var s cma.Scratch
	o := startOwner(b, &s)
	dst := make([]byte, 4<<10)
	here := []unix.Iovec{{Base: &dst[0], Len: 4 << 10}}
	there := []unix.RemoteIovec{{Base: uintptr(o.list[1].Addr), Len: 4 << 10}}
	for b.Loop() {
		if _, err := unix.ProcessVMReadv(o.pid, here, there, 0); err != nil {
			b.Fatal(err)
		}
	}
}
