//go:build linux

package shm

import (
	"bytes"
	"sync/atomic"
	"testing"

	"gomx/transport/internal/segment"
)

// TestExposureEndsWhileRead copies memory whose owner ends the exposure and writes something else, again and again.
// What stands after the copy must have been copied whole before.
func TestExposureEndsWhileRead(t *testing.T) {
	const size = 512
	m, err := segment.Create("gomx-test", page+size) // which the race detector does not watch
	if err != nil {
		t.Skip("no shared memory here: ", err)
	}
	defer m.Close()
	words, ok := exposureTable(m.Bytes(), true)
	if !ok {
		t.Fatal("the words are not aligned")
	}
	owner, memory := exposures{generation: words}, m.Bytes()[page:page+size]
	place, _ := owner.begin() // the next begin gets it, too
	owner.end(place)

	var told atomic.Uint64 // the generation that is exposed
	var stop atomic.Bool
	ended := make(chan struct{})
	defer func() { stop.Store(true); <-ended }() // the memory goes with the test
	go func() {
		defer close(ended)
		for !stop.Load() {
			place, generation := owner.begin()
			for i := range memory {
				memory[i] = byte(generation)
			}
			told.Store(generation)
			for range generation % 128 {
				told.Load()
			}
			owner.end(place)
		}
	}()
	rounds := 2_000_000
	if testing.Short() {
		rounds /= 20
	}
	stood, got := 0, make([]byte, size)
	for range rounds {
		x := exposure{words[place], told.Load()}
		copy(got, memory)
		if !x.stands() || x.generation == 0 {
			continue
		}
		stood++
		if n := bytes.Count(got, []byte{byte(x.generation)}); n != size {
			t.Fatalf("%d of %d bytes are those of generation %d, which stands", n, size, x.generation)
		}
	}
	t.Logf("%d of %d exposures stood", stood, rounds)
}
