package mx_test

import (
	"syscall"
	"testing"
)

// directPulls counts the rendezvous that one endpoint has read from its peer's memory.
const directPulls = "get rendezvous"

// TestLogOfGetRendezvousThatFails takes away the memory of a send while its receiver reads it, and gives it back for the
// pipelined rendezvous.
func TestLogOfGetRendezvousThatFails(t *testing.T) {
	const size = 1 << 20
	w := newWorld(t, "shm")
	param, log := logger()
	a, b := w.open(), w.open(param)
	toB := w.connect(a, b)
	memory, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(memory) })
	copy(memory, pattern(size, 1))
	exchange := func(whileSent, whenStuck func()) {
		t.Helper()
		if err := a.DisableProgression(); err != nil {
			t.Fatal(err)
		}
		send := w.isend(a, memory, toB, 1)
		whileSent()
		got := make([]byte, size)
		recv := w.irecv(b, got, 1, exact)
		whenStuck()
		if err := a.ReenableProgression(); err != nil {
			t.Fatal(err)
		}
		w.succeed(b, recv)
		w.succeed(a, send)
		w.same(got, pattern(size, 1))
	}
	exchange(func() {}, func() {})
	if counter(t, b, directPulls) == 0 {
		t.Skip("processes of this host do not read each other's memory")
	}
	protect := func(how int) {
		if err := syscall.Mprotect(memory, how); err != nil {
			t.Fatal(err)
		}
	}
	exchange(func() { protect(syscall.PROT_NONE) }, func() {
		line := []string{"level=INFO", `msg="get rendezvous failed, goes on as pipelined rendezvous" endpoint=` + b.String() + " peer=" + a.String() + " transport=shm"}
		w.line(log, line, b)
		protect(syscall.PROT_READ | syscall.PROT_WRITE)
	})
}
