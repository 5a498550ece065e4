//go:build linux && cgo

package slots_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"gomx/transport/rdma"
	"gomx/transport/rdma/internal/slots"
	"gomx/transport/rdma/internal/verbs"
)

func domain(t *testing.T) *verbs.Domain {
	t.Helper()
	if err := rdma.Available(); err != nil {
		t.Skip("needs an RDMA device, as the machine of integration/rdmavm has: ", err)
	}
	names, err := verbs.Names()
	check(t, err)
	device, err := verbs.Open(names[0])
	check(t, err)
	t.Cleanup(func() { check(t, device.Close()) })
	d, err := device.NewDomain()
	check(t, err)
	t.Cleanup(func() { check(t, d.Close()) })
	return d
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestPool(t *testing.T) {
	const count, size = 10, 100
	p, err := slots.New(domain(t), verbs.LocalWrite, count, size, count)
	check(t, err)
	if p.Count() != count || p.Free() != count || p.Size() != size {
		t.Errorf("%d of %d free, of %d bytes", p.Free(), p.Count(), p.Size())
	}
	taken := map[uint32]bool{}
	for range count {
		s, ok := p.Take()
		if !ok || taken[s] {
			t.Fatalf("slot %d, %v", s, ok)
		}
		taken[s] = true
		b := p.Bytes(s)
		if len(b) != size || cap(b) != size {
			t.Fatalf("a slot of %d bytes", len(b))
		}
		for i := range b {
			b[i] = byte(s)
		}
	}
	if s, ok := p.Take(); ok || p.Free() != 0 {
		t.Errorf("slot %d of none", s)
	}
	for s := range taken {
		for _, b := range p.Bytes(s) {
			if b != byte(s) {
				t.Fatalf("slot %d has bytes of %d", s, b)
			}
		}
		one := p.Piece(s, size)
		if first := p.Piece(0, 1); one.Addr != first.Addr+uint64(s)*size || one.Length != size {
			t.Errorf("slot %d is %+v, the first %+v", s, one, first)
		}
	}
	for s := range taken {
		p.Give(s)
		if again, ok := p.Take(); !ok || again != s {
			t.Errorf("slot %d was given back, and %d is first", s, again)
		}
		p.Give(s)
	}
	for name, f := range map[string]func(){
		"one too many given back": func() { p.Give(0) },
		"a piece beyond the slot": func() { p.Piece(0, size+1) },
	} {
		if !panics(f) {
			t.Errorf("%s goes unnoticed", name)
		}
	}
	check(t, p.Close())
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// asNobody is set in the environment of the process that TestFewerSlots starts.
const asNobody = "SLOTS_TEST_AS_NOBODY"

// TestFewerSlots asks for more than the system allows, in a process of a user for
// whom the limit holds.
func TestFewerSlots(t *testing.T) {
	if os.Getenv(asNobody) != "" {
		makeDo(t)
		return
	}
	domain(t)
	if os.Getuid() != 0 {
		t.Skip("needs root, to become a user without privileges")
	}
	const nobody = 65534
	self, err := os.Executable()
	check(t, err)
	cmd := exec.Command(self, "-test.run=^TestFewerSlots$", "-test.v")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), asNobody+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestFewerSlots") {
		t.Errorf("%v\n%s", err, out)
	}
}

func makeDo(t *testing.T) {
	const limit, size = 256 << 10, 4096
	check(t, unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: limit, Max: limit}))
	d := domain(t)
	p, err := slots.New(d, verbs.LocalWrite, 200, size, 40)
	check(t, err)
	if p.Count() != 50 || p.Free() != 50 {
		t.Errorf("%d slots, %d free, want 50: a quarter of what was asked for", p.Count(), p.Free())
	}
	check(t, p.Close())

	p, err = slots.New(d, verbs.LocalWrite, 200, size, 70)
	var e *verbs.MemoryLimitError
	if p != nil || !errors.As(err, &e) || e.Need != 200*size {
		t.Errorf("%v, %v: want the limit, and that 200 slots exceed it", p, err)
	}
	p, err = slots.New(d, verbs.LocalWrite, 200, size, 60)
	check(t, err)
	if p.Count() != 60 {
		t.Errorf("%d slots, want the least of 60", p.Count())
	}
	check(t, p.Close())
}
