//go:build linux

package tracefile

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"syscall"
	"testing"

	"gomx/endpoint"
)

// events records n events of which each has its number as Match, from a number on.
func events(w *Writer, from, n int) {
	r := &w.Recorder
	for i := from; i < from+n; i++ {
		ev := &r.Events[*r.Count&uint64(len(r.Events)-1)]
		*ev = endpoint.Event{At: r.Clock(), Kind: endpoint.EventSent, Match: uint64(i), Turn: uint32(*r.Count + 1)}
		*r.Count++
		if ev.At >= r.Due {
			r.Lapse(ev.At)
		}
	}
}

func create1(t *testing.T, size int) *Writer {
	t.Helper()
	w, err := Create(t.TempDir(), Info{Host: "host/name", PID: 1, NIC: 2, ID: 3, Endpoint: "host:0/3", Command: "program"}, size)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func readBack(t *testing.T, w *Writer) *File {
	t.Helper()
	f, err := Read(w.Path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestRing reads a ring before it is full, when it has gone round, while it is written to, and after Close.
func TestRing(t *testing.T) {
	w := create1(t, LeastBytes)
	if n := len(w.Recorder.Events); n != LeastBytes/eventBytes {
		t.Fatalf("%d events in %d bytes", n, LeastBytes)
	}
	if f := readBack(t, w); len(f.Events) != 0 || f.Rank != -1 || f.Closed || f.Missing != 0 {
		t.Errorf("of an empty one: %+v", f)
	}
	events(w, 0, 10)
	w.SetJob(77, 2, 4)
	f := readBack(t, w)
	if len(f.Events) != 10 || f.Events[9].Match != 9 || f.Lost != 0 || f.Job != 77 || f.Rank != 2 || f.Ranks != 4 || f.Command != "program" || f.ID != 3 {
		t.Errorf("of ten: %+v", f)
	}
	events(w, 10, 100)
	if f = readBack(t, w); len(f.Events) != 63 || f.Events[0].Match != 47 || f.Events[62].Match != 109 || f.Lost != 46 || f.Missing != 0 {
		t.Errorf("of one that has gone round: %d events from %d on, %d lost, %d missing", len(f.Events), f.Events[0].Match, f.Lost, f.Missing)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w.SetJob(1, 1, 1)
	if n := w.Name("late"); n != 0 {
		t.Errorf("a name after Close is %d", n)
	}
	if f = readBack(t, w); !f.Closed || f.Job != 77 || f.Rate <= 0 || f.Span <= 0 {
		t.Errorf("of one that is closed: %+v", f.Info)
	}
}

// TestTorn drops an event that was not written to its end.
func TestTorn(t *testing.T) {
	w := create1(t, LeastBytes)
	events(w, 0, 5)
	w.Recorder.Events[2].Turn = 0
	w.Recorder.Events[3].Kind = 200
	f := readBack(t, w)
	if len(f.Events) != 3 || f.Events[1].Match != 1 || f.Events[2].Match != 4 || f.Torn != 2 || f.Missing != 0 {
		t.Errorf("%+v, %d torn, %d missing", f.Events, f.Torn, f.Missing)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestTornAtTheBack: of a ring that has gone round, the oldest event is the one that may be written just now, and is no damage.
func TestTornAtTheBack(t *testing.T) {
	w := create1(t, LeastBytes)
	events(w, 0, 100)
	oldest := &w.Recorder.Events[*w.Recorder.Count&uint64(len(w.Recorder.Events)-1)]
	oldest.Turn = 0
	if f := readBack(t, w); f.Torn != 0 || len(f.Events) != 63 {
		t.Errorf("%d torn of %d", f.Torn, len(f.Events))
	}
	for _, n := range []uint64{70, 71, 80} {
		w.Recorder.Events[n&63].Turn = 0
	}
	if f := readBack(t, w); f.Torn != 3 || len(f.Events) != 60 {
		t.Errorf("%d torn of %d", f.Torn, len(f.Events))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestNames gives each name one number, as long as there is space.
func TestNames(t *testing.T) {
	w := create1(t, LeastBytes)
	a, b := w.Name("a"), w.Name("b")
	if a != 1 || b != 2 || w.Name("a") != a {
		t.Errorf("names %d, %d, %d", a, b, w.Name("a"))
	}
	odd := []string{"c\x00d", strings.Repeat("x", MostName+1), strings.Repeat("ä", MostName), strings.Repeat("\x00", namesBytes), ""}
	kept := []string{"c\ufffdd", strings.Repeat("x", MostName-3) + "…", strings.Repeat("ä", (MostName-3)/2) + "…", strings.Repeat("\ufffd", (MostName-3)/3) + "…", ""}
	for i, name := range odd {
		if n := w.Name(name); n != uint16(3+i) || w.Name(name) != n {
			t.Errorf("%.20q is %d, and then %d", name, n, w.Name(name))
		}
	}
	f := readBack(t, w)
	for i, name := range kept {
		if len(f.Names) < 3+i || f.Names[2+i] != name || len(name) > MostName {
			t.Fatalf("%.20q is %q of %d names", odd[i], f.Names[min(2+i, len(f.Names)-1)], len(f.Names))
		}
	}
	last, beyond := 0, 0
	for i := range namesBytes / MostName * 2 {
		if n := w.Name(fmt.Sprintf("%d%s", i, strings.Repeat("y", MostName-5))); n != 0 {
			last = int(n)
		} else {
			beyond++
		}
	}
	if f = readBack(t, w); last < namesBytes/MostName || beyond == 0 || f.Names[last-1] == "" || f.Names[last] != "" || w.Name("a") != a {
		t.Errorf("%d names, %d beyond the space, %d in the file", last, beyond, len(f.Names))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFiles gives each endpoint a file of its own, which only the user may read, and leaves none behind where there is no space.
func TestFiles(t *testing.T) {
	folder := t.TempDir()
	seen := map[string]bool{}
	for range 3 {
		w, err := Create(folder, Info{Host: "h"}, LeastBytes)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(w.Path)
		if err != nil || info.Mode() != 0o600 || seen[w.Path] {
			t.Errorf("%s: mode %v, %v", w.Path, info.Mode(), err)
		}
		seen[w.Path] = true
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Create(folder, Info{Host: "h", Command: strings.Repeat("x", headBytes)}, LeastBytes); err == nil {
		t.Error("a description that does not fit was accepted")
	}
	if math.MaxInt > math.MaxInt32 { // else a disk has that much
		if _, err := Create(folder, Info{Host: "h"}, math.MaxInt/4); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("a file larger than any disk: %v", err)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != len(seen) {
		t.Errorf("%d files are left, want %d: %v", len(left), len(seen), err)
	}
}

// FuzzRead has no head or ring make reading fail in any other way than by an error.
func FuzzRead(f *testing.F) {
	w, err := Create(f.TempDir(), Info{Host: "h"}, LeastBytes)
	if err != nil {
		f.Fatal(err)
	}
	events(w, 0, 3)
	path := w.Path
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole[:headBytes])
	f.Add(whole[:200])
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = read(strings.NewReader(string(b))) })
}
