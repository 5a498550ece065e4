//go:build linux

package shm

import (
	"math/bits"
	"time"
)

// way is a way to move a large message.
type way uint8

const (
	byArena  way = iota // copy out of the peer's arena
	byRead              // process_vm_readv
	byBlocks            // through the ring: two copies, but on two cores
	wayEnd
)

// Which way is quickest depends on the machine, on the size, on where the two
// processes run and on whether the sender is at hand, and it changes while they
// run. So each link measures what it does, and takes what was quickest of late
// for messages of that size. Now and then it tries another way again.
const (
	sizeClasses = 8 // up to 16 KiB, then one for each doubling, the last open
	firstClass  = 14

	// A trial is a run of messages of which the later half counts: how quick a way
	// is depends on which caches the one before has left the bytes in. The first
	// trial is longer, because the ring's pages are touched in it.
	trial      = 16
	firstTrial = 4 << 20 // bytes
	hopelessly = 4       // times slower than the best: tried again only at long last

	// Messages between trials: the gap begins short and doubles.
	firstGap = 64
	lastGap  = 4096
)

// chooser holds what a link has measured.
type chooser struct{ classes [sizeClasses]sizeClass }

type sizeClass struct {
	cost  [wayEnd]float64 // nanoseconds a KiB, smoothed; 0: not known
	tried [wayEnd]bool
	next  way // the next to be tried again
	wait  int // messages until then
	gap   int

	trying way
	left   int // messages of the trial that are still to come
}

func classOf(n int) int {
	return min(max(bits.Len(uint(n-1))-firstClass, 0), sizeClasses-1)
}

// choose returns the way for a message of n bytes, out of those that are open.
// Blocks always are.
func (c *chooser) choose(n int, open [wayEnd]bool) way {
	s := &c.classes[classOf(n)]
	if s.left > 0 && open[s.trying] {
		s.left--
		return s.trying
	}
	best := byBlocks
	for w := range wayEnd {
		switch {
		case !open[w]:
		case !s.tried[w]:
			s.tried[w] = true
			s.gap, s.wait = firstGap, firstGap
			return s.try(w, max(trial, firstTrial/n))
		case s.cost[w] > 0 && (s.cost[best] == 0 || s.cost[w] < s.cost[best]):
			best = w
		}
	}
	if s.wait--; s.wait <= 0 {
		s.gap = min(2*s.gap, lastGap)
		s.wait = s.gap
		if w := s.other(open, best); s.cost[w] < hopelessly*s.cost[best] || s.gap == lastGap {
			return s.try(w, trial)
		}
	}
	return best
}

func (s *sizeClass) try(w way, messages int) way {
	s.trying, s.left = w, messages-1
	return w
}

// other returns the open ways but best in turn.
func (s *sizeClass) other(open [wayEnd]bool, best way) way {
	for range wayEnd {
		s.next = (s.next + 1) % wayEnd
		if open[s.next] && s.next != best {
			return s.next
		}
	}
	return best
}

// measured notes that n bytes took that long.
func (c *chooser) measured(n int, w way, took time.Duration) {
	s := &c.classes[classOf(n)]
	if s.left > trial/2 {
		return
	}
	cost := float64(max(took, 1)) * 1024 / float64(n)
	switch known := s.cost[w]; {
	case known == 0:
		s.cost[w] = cost
	case cost < known:
		s.cost[w] += (cost - known) / 2
	default: // an interrupt makes one message slow, but none quick
		s.cost[w] += (cost - known) / 16
	}
}
