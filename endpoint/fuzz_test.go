package endpoint_test

import (
	"flag"
	"math/rand/v2"
	"testing"

	"gomx/endpoint/endpointtest"
	"gomx/internal/testlength"
)

// FuzzPair plays arbitrary histories of two endpoints; Pair lists what must hold
// in the end.
func FuzzPair(f *testing.F) {
	for seed := range uint64(16) {
		f.Add(history(seed, 200))
		f.Add(breaks(seed, 200))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1500 {
			return
		}
		if err := endpointtest.NewPair(b).Play(); err != nil {
			t.Fatal(err)
		}
	})
}

func history(seed uint64, n int) []byte {
	rng := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// breaks returns a history over links that heal, which break often, and whose
// medium changes.
func breaks(seed uint64, n int) []byte {
	rng := rand.New(rand.NewPCG(seed, 2))
	b := history(seed, n)
	b[0] &^= 2 // not lossy
	b[1] |= 1  // heals
	for i := range b[2:] {
		if rng.IntN(12) == 0 {
			b[2+i] = 14 | byte(2+rng.IntN(2))<<4 | b[2+i]&128
		}
	}
	return b
}

var histories = flag.Uint64("endpoint.histories", 400, "histories of TestManyHistories")

func TestManyHistories(t *testing.T) {
	testlength.Alone(t)
	testlength.Long(t)
	n := *histories
	if testing.Short() {
		n = 200
	}
	for seed := range n {
		if err := endpointtest.NewPair(history(seed, 50+int(seed%7)*60)).Play(); err != nil {
			t.Fatalf("history %d: %v", seed, err)
		}
		if err := endpointtest.NewPair(breaks(seed, 50+int(seed%7)*60)).Play(); err != nil {
			t.Fatalf("history %d, with breaks: %v", seed, err)
		}
	}
}
