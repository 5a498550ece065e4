package mx_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"gomx/mx"
)

// burn has the processor busy for so long, of the goroutine's own time.
func burn(long time.Duration) {
	for end := time.Now().Add(long); time.Now().Before(end); {
	}
}

// inProfile reports whether a profile in the format of pprof has a string, alone, among its strings.
func inProfile(t *testing.T, profile []byte, name string) bool {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(profile))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	const stringTable = 6<<3 | 2 // the field, and that its length follows
	return bytes.Contains(all, append([]byte{stringTable, byte(len(name))}, name...))
}

// TestCPUProfile has a CPU profile say which of the time is that of the endpoint's own goroutine: a handler computes there, while the
// program calls nothing.
func TestCPUProfile(t *testing.T) {
	w := newWorld(t, "mem")
	pprof.Do(context.Background(), pprof.Labels("whose", "the program's"), func(context.Context) {
		a, b, toB, _ := w.pair()
		q, err := mx.NewQueue(b)
		if err != nil {
			t.Fatal(err)
		}
		handled := make(chan string)
		for turn := 0; ; turn++ {
			if turn == 0 {
				err = q.Handle(func([]mx.Completion) {
					burn(300 * time.Millisecond)
					var own bytes.Buffer
					_ = pprof.Lookup("goroutine").WriteTo(&own, 1)
					handled <- own.String()
				})
			}
			if err == nil {
				err = q.Add(w.irecv(b, make([]byte, 8), 1, exact))
			}
			var profile bytes.Buffer
			if err == nil {
				err = pprof.StartCPUProfile(&profile)
			}
			if err != nil {
				t.Skipf("somebody else takes a profile: %v", err)
			}
			w.succeed(a, w.isend(a, make([]byte, 8), toB, 1))
			goroutines := <-handled
			pprof.StopCPUProfile()
			want := fmt.Sprintf(`# labels: {"endpoint":"%d", "gomx":"progress"}`, b.ID())
			if !strings.Contains(goroutines, want) {
				t.Fatalf("the goroutines have no labels %s:\n%s", want, goroutines)
			}
			if inProfile(t, profile.Bytes(), "gomx") && inProfile(t, profile.Bytes(), "progress") {
				break
			}
			if turn == 20 { // of a profile's samples the system may lose some
				t.Fatal("the CPU profile has no samples of the endpoint's goroutine")
			}
		}
	})
}

// TestRegions finds in Go's execution trace that somebody has waited, and what was copied.
func TestRegions(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("somebody else makes an execution trace")
	}
	w := newWorld(t, "shm")
	a, b, toB, _ := w.pair()
	large := make([]byte, 4<<20)
	r := w.irecv(b, large, 1, exact)
	for timeout := time.Millisecond; !bytes.Contains(traced(t, func() {
		if _, done, err := b.Wait(r, timeout); done || err != nil {
			t.Fatal(done, err)
		}
	}), []byte("mx wait")); timeout *= 4 {
		if timeout > bound { // on a busy machine a short one passes before the wait begins
			t.Fatal("the execution trace has no region for a wait")
		}
	}
	if !bytes.Contains(traced(t, func() {
		s := w.isend(a, make([]byte, len(large)), toB, 1)
		w.succeed(b, r)
		w.succeed(a, s)
	}), []byte("mx copy")) {
		t.Error("the execution trace has no region for a copy")
	}
}

// traced returns Go's execution trace of a function.
func traced(t *testing.T, f func()) []byte {
	t.Helper()
	var all bytes.Buffer
	if err := trace.Start(&all); err != nil {
		t.Fatal(err)
	}
	defer trace.Stop()
	f()
	trace.Stop()
	return all.Bytes()
}
