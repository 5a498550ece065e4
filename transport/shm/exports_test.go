//go:build linux

package shm

import (
	"bytes"
	"sync/atomic"
	"testing"

	"gomx/transport/internal/segment"
)

// TestExportEndsWhileRead copies memory whose owner ends the export and writes something else, again and again.
// What stands after the copy must have been copied whole before.
func TestExportEndsWhileRead(t *testing.T) {
	const size = 512
	m, err := segment.Create("gomx-test", tableSpan+size) // which the race detector does not watch
	if err != nil {
		t.Skip("no shared memory here: ", err)
	}
	defer m.Close()
	owner, memory := exports{table: m.Bytes()[:tableSpan]}, m.Bytes()[tableSpan:]
	slot, _ := owner.begin() // the next begin gets it, too
	owner.end(slot)
	word, ok := owner.table.at(slot)
	if !ok {
		t.Fatal("the table is not aligned")
	}

	var told atomic.Uint64 // the generation that is exported
	var stop atomic.Bool
	ended := make(chan struct{})
	defer func() { stop.Store(true); <-ended }() // the memory goes with the test
	go func() {
		defer close(ended)
		for !stop.Load() {
			slot, generation := owner.begin()
			for i := range memory {
				memory[i] = byte(generation)
			}
			told.Store(generation)
			for range generation % 128 {
				told.Load()
			}
			owner.end(slot)
		}
	}()
	rounds := 2_000_000
	if testing.Short() {
		rounds /= 20
	}
	stood, got := 0, make([]byte, size)
	for range rounds {
		x := export{word: word, generation: told.Load()}
		copy(got, memory)
		if !x.stands() || x.generation == 0 {
			continue
		}
		stood++
		if n := bytes.Count(got, []byte{byte(x.generation)}); n != size {
			t.Fatalf("%d of %d bytes are those of generation %d, which stands", n, size, x.generation)
		}
	}
	t.Logf("%d of %d exports stood", stood, rounds)
}

// TestExportsEndAlone has as many sends outstanding as a program that is far ahead of its peer.
func TestExportsEndAlone(t *testing.T) {
	owner := exports{table: make(generations, tableSpan)}
	table := owner.table
	all := make([]export, reading-1)
	for i := range all {
		slot, generation := owner.begin()
		word, ok := table.at(slot)
		if !ok || slot == shared {
			t.Fatalf("export %d has slot %d", i, slot)
		}
		all[i] = export{word: word, generation: generation}
	}
	for i := range all {
		if !all[i].stands() {
			t.Fatalf("export %d has ended with another", i)
		}
		owner.end(uint32(i + 1))
		if all[i].stands() {
			t.Fatalf("export %d has not ended", i)
		}
	}
	if _, ok := table.at(exportSlots); ok {
		t.Error("a slot behind the table")
	}
}
