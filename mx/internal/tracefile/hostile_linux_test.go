package tracefile

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"gomx/internal/testlength"
)

// written makes a file with a head that says what it likes, and ends it after some bytes.
func written(t *testing.T, size int64, change func(h *head)) string {
	t.Helper()
	w := create1(t, LeastBytes)
	events(w, 0, 3)
	path := w.Path
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	h := headOf(whole, binary.NativeEndian)
	change(&h)
	if _, err := binary.Encode(whole[:unsafe.Sizeof(h)], binary.NativeEndian, &h); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other"+Suffix)
	if err = os.WriteFile(other, whole, 0o600); err == nil {
		err = os.Truncate(other, size)
	}
	if err != nil {
		t.Fatal(err)
	}
	return other
}

const wholeSize = ringAt + LeastBytes

// TestClaims reads heads that claim what is not there.
func TestClaims(t *testing.T) {
	for _, c := range []struct {
		what    string
		change  func(h *head)
		events  int
		missing uint64
		err     error
	}{
		{"nothing odd", func(*head) {}, 3, 0, nil},
		{"a ring that is larger than the file", func(h *head) { h.Events, h.Count = 1<<31, math.MaxUint64 }, 0, 1<<31 - 64, nil},
		{"a ring that is larger than any", func(h *head) { h.Events = 1 << 32 }, 0, 0, ErrNotTrace},
		{"more events than there are", func(h *head) { h.Count = 1 << 40 }, 0, 0, nil},
		{"a ring of no events", func(h *head) { h.Events = 0 }, 0, 0, ErrNotTrace},
		{"a ring of an odd size", func(h *head) { h.Events = 63 }, 0, 0, ErrNotTrace},
		{"a description that is larger than its space", func(h *head) { h.InfoLen = math.MaxUint32 }, 0, 0, ErrNotTrace},
		{"names that are larger than their space", func(h *head) { h.NamesLen = math.MaxUint32 }, 0, 0, ErrNotTrace},
		{"more ranks than there may be", func(h *head) { h.Job, h.Ranks = 1, math.MaxInt32 }, 0, 0, ErrNotTrace},
		{"fewer ranks than none", func(h *head) { h.Job, h.Ranks = 1, -5 }, 0, 0, ErrNotTrace},
		{"a rank that there can't be", func(h *head) { h.Job, h.Ranks, h.Rank = 1, 4, math.MaxInt32 }, 0, 0, ErrNotTrace},
		{"events of another size", func(h *head) { h.Size = 65 }, 0, 0, ErrVersion},
	} {
		f, err := Read(written(t, wholeSize, c.change))
		switch {
		case c.err != nil || err != nil:
			if c.err == nil || !errors.Is(err, c.err) {
				t.Errorf("%s: %v, want %v", c.what, err, c.err)
			}
		case len(f.Events) != c.events || f.Missing != c.missing:
			t.Errorf("%s: %d events, %d missing, want %d and %d", c.what, len(f.Events), f.Missing, c.events, c.missing)
		}
	}
}

// TestHoles reads a file that claims to be large, and takes no space on the disk: it takes no memory either.
func TestHoles(t *testing.T) {
	testlength.Long(t)
	const size = 1 << 28
	path := written(t, size, func(h *head) { h.Events, h.Count = 1<<22, math.MaxUint64 })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := Read(path)
	runtime.ReadMemStats(&after)
	if err != nil || len(f.Events) != 0 || f.Torn == 0 {
		t.Fatalf("%+v, %v", f, err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("reading %d bytes of holes has taken %d bytes", size, took)
	}
}

// TestDescriptions has descriptions refused that are damaged, or nested as deep as there is space.
func TestDescriptions(t *testing.T) {
	for _, text := range []string{`{"host":`, strings.Repeat("[", infoBytes), `{"host":` + strings.Repeat(`{"a":`, 700), "null null", strings.Repeat("\x00", 100)} {
		path := written(t, wholeSize, func(h *head) { h.InfoLen = uint32(len(text)) })
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err == nil {
			_, err = f.WriteAt([]byte(text), int64(headBytes-infoBytes))
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); !errors.Is(err, ErrNotTrace) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
