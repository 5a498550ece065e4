package elem_test

import (
	"testing"

	"gomx/mpi/internal/elem"
)

type (
	pixel  struct{ R, G, B uint8 }
	body   struct{ At, V [3]float64 }
	holder struct{ _ *int }
	text   struct{ _ string }
	none   struct{ _ [0]*int }
)

func TestPlain(t *testing.T) {
	for name, c := range map[string]struct{ got, want bool }{
		"byte":      {elem.Plain[byte](), true},
		"float64":   {elem.Plain[float64](), true},
		"struct":    {elem.Plain[pixel](), true},
		"arrays":    {elem.Plain[body](), true},
		"complex":   {elem.Plain[complex128](), true},
		"pointer":   {elem.Plain[*int](), false},
		"inside":    {elem.Plain[holder](), false},
		"string":    {elem.Plain[text](), false},
		"slice":     {elem.Plain[[]int](), false},
		"interface": {elem.Plain[any](), false},
		"array":     {elem.Plain[[2]holder](), false},
		"empty":     {elem.Plain[struct{}](), false},
		"no bytes":  {elem.Plain[none](), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: plain is %v", name, c.got)
		}
	}
	for range 3 {
		if !elem.Plain[pixel]() || elem.Plain[holder]() {
			t.Error("another answer the second time")
		}
	}
}

func TestBytesShareMemory(t *testing.T) {
	s := []uint32{1, 2, 3}
	b, ok := elem.Bytes(s[1:])
	if !ok || len(b) != 8 {
		t.Fatalf("%d bytes, %v", len(b), ok)
	}
	b[0]++
	if s[1] == 2 {
		t.Error("the bytes are a copy")
	}
	back, ok := elem.Of[uint32](b)
	if !ok || len(back) != 2 || &back[0] != &s[1] {
		t.Error("the way back leads elsewhere")
	}
	if _, ok := elem.Of[uint32](b[1:]); ok {
		t.Error("elements that are not aligned")
	}
	if b, ok := elem.Bytes[float64](nil); !ok || len(b) != 0 {
		t.Error("nil has no bytes")
	}
}

// None of the bytes are pointed to as an element if there are too few: the race detector's checkptr ends a program for that.
func TestElementsOfTooFewBytes(t *testing.T) {
	type large [40]int64
	for n := range 300 {
		if got := elem.Elements[large](make([]byte, 300)[:n]); got != nil {
			t.Fatalf("%d bytes are %d elements at %p", n, len(got), got)
		}
	}
}

func TestOverlap(t *testing.T) {
	b := make([]byte, 10)
	for _, c := range []struct {
		a, b []byte
		want bool
	}{
		{b[:5], b[5:], false}, {b[:6], b[5:], true}, {b[5:], b[:6], true}, {b, b[3:4], true},
		{b[3:3], b, false}, {nil, b, false}, {b, make([]byte, 10), false},
	} {
		if got := elem.Overlap(c.a, c.b); got != c.want {
			t.Errorf("%p+%d, %p+%d: %v", c.a, len(c.a), c.b, len(c.b), got)
		}
	}
	if !elem.Same(b, b[:3]) || elem.Same(b, b[1:]) {
		t.Error("same")
	}
}

func TestNoAllocations(t *testing.T) {
	s := make([]body, 4)
	if n := testing.AllocsPerRun(100, func() { elem.Bytes(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var sink []byte

func BenchmarkBytes(b *testing.B) {
	s := make([]body, 4)
	for b.Loop() {
		sink, _ = elem.Bytes(s)
	}
}
