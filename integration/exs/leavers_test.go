//go:build linux

package exs_test

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"gomx/exs"
	"gomx/internal/testlength"
)

var leavers = flag.Int("exs.leavers", 40, "processes that connect, write, close and end, in TestManyWhoLeave")

// Process after process dials, writes, closes and ends. Who reads is late, by up to two seconds, and has all of it, and then the end.
func TestManyWhoLeave(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	for _, medium := range []string{"shm", "tcp"} {
		t.Run(medium, func(t *testing.T) {
			t.Parallel()
			manyWhoLeave(t, medium)
		})
	}
}

func manyWhoLeave(t *testing.T, medium string) {
	const together, late = 20, 2 * time.Second
	ln, at := listens(t, library(t, medium), conns)
	sizes, came := make([]int, *leavers), make(chan int, *leavers)
	var all, readers sync.WaitGroup
	defer all.Wait()
	all.Go(func() {
		places := make(chan bool, together)
		for i := range sizes {
			places <- true
			sizes[i] = 1 << rand.IntN(21)
			sizes[i] -= rand.IntN(sizes[i])
			child := start(t, medium, "leave", conns, at, sizes[i], 1+rand.IntN(3))
			all.Go(func() {
				child.Hear("closed")
				if err := child.Wait(); err != nil {
					t.Error(err)
				}
				<-places
			})
		}
	})
	for range sizes {
		s, _, err := ln.BlockingAccept()
		if err != nil {
			t.Fatal(err)
		}
		readers.Go(func() {
			time.Sleep(rand.N(late))
			came <- readLeft(t, s)
		})
	}
	readers.Wait()
	all.Wait()
	close(came)
	lengths := slices.Sorted(func(yield func(int) bool) {
		for n := range came {
			if !yield(n) {
				return
			}
		}
	})
	if slices.Sort(sizes); !slices.Equal(lengths, sizes) {
		t.Errorf("of %v bytes %v have come", sizes, lengths)
	}
}

// readLeft reads what somebody has left behind, and says how much it was.
func readLeft(t *testing.T, s *exs.Socket) int {
	got, err := readToEnd(s)
	if err != nil || !bytes.Equal(got, leftBehind(len(got))) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := s.BlockingClose(); err != nil {
		t.Error(err)
	}
	return len(got)
}
