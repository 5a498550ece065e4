package match_test

import (
	"fmt"
	"testing"

	"gomx/match"
)

func TestIndexIsFIFOPerValue(t *testing.T) {
	var x match.Index
	for id := range int32(1000) {
		x.Add(uint64(id%7), id)
	}
	if x.Remove(1000) || x.Remove(-1) || !x.Remove(7) || x.Remove(7) {
		t.Error("Remove is true exactly for ids in the index")
	}
	for value := range uint64(7) {
		for id := int32(value); id < 1000; id += 7 {
			if id == 7 {
				continue
			}
			if got, ok := x.First(value); !ok || got != id {
				t.Fatalf("First(%d) = %d, %v; want %d", value, got, ok, id)
			}
			if got, ok := x.Pop(value); !ok || got != id || x.Has(id) {
				t.Fatalf("Pop(%d) = %d, %v; want %d", value, got, ok, id)
			}
		}
		if _, ok := x.First(value); ok {
			t.Fatalf("value %d still has ids", value)
		}
	}
	if x.Len() != 0 {
		t.Errorf("Len() = %d", x.Len())
	}
}

func TestIndexReset(t *testing.T) {
	var x match.Index
	for round := range uint64(3) {
		for id := range int32(100) {
			x.Add(round, id)
		}
		held := x.Bytes()
		x.Reset()
		if _, ok := x.First(round); ok || x.Len() != 0 || x.Has(5) || x.Bytes() != held {
			t.Fatalf("round %d: not empty after Reset", round)
		}
	}
}

// Match information is packed from ranks, tags and contexts at fixed shifts.
// Such values must be distributed as well as random ones are.
func TestStructuredValuesAreDistributed(t *testing.T) {
	const n = 1 << 14
	shapes := map[string]func(i uint64) uint64{
		"counting":     func(i uint64) uint64 { return i },
		"top half":     func(i uint64) uint64 { return i << 32 },
		"top bits":     func(i uint64) uint64 { return i << 50 },
		"rank and tag": func(i uint64) uint64 { return i>>7<<32 | i&127 },
		"three fields": func(i uint64) uint64 { return i>>10<<48 | i>>5&31<<24 | i&31 },
		"strided":      func(i uint64) uint64 { return i * 4096 },
		"bit reversed": func(i uint64) uint64 { return ^(i << 49) },
	}
	for name, value := range shapes {
		t.Run(name, func(t *testing.T) {
			var x match.Index
			for i := range uint64(n) {
				x.Add(value(i), int32(i))
			}
			if got := match.LongestProbe(&x); got > 64 {
				t.Errorf("longest probe sequence is %d slots", got)
			}
		})
	}
}

func ExampleIndex() {
	var x match.Index
	x.Add(0xcafe, 1)
	x.Add(0xbeef, 2)
	x.Add(0xcafe, 3)
	x.Remove(1)
	fmt.Println(x.Pop(0xcafe))
	fmt.Println(x.Pop(0xcafe))
	// Output:
	// 3 true
	// 0 false
}

func ExampleTable() {
	var posted match.Table
	posted.Post(1, 0x0700, 0xff00) // tag 7 from anybody
	posted.Post(2, 0x0703, match.MaskNone)

	fmt.Println(posted.Arrive(0x0703)) // both match: the older gets it
	fmt.Println(posted.Arrive(0x0703))
	fmt.Println(posted.Arrive(0x0703))
	// Output:
	// 1 true
	// 2 true
	// 0 false
}
