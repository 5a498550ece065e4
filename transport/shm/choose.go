//go:build linux

package shm

import (
	"math/bits"
	"time"
)

// way is a way to move a large message.
type way uint8

const (
	byArena    way = iota // copy out of the peer's arena
	byRead                // process_vm_readv
	byPipeline            // through the ring: two copies, but on two cores
	wayEnd
)

// Which way is quickest depends on the machine, on the size, on where the two
// processes run and on whether the sender is at hand, and it changes while they
// run: in a virtual machine the host may move a core away from the other one's
// cache, and everything takes three times as long until it is moved back. So the way
// is chosen adaptively: each link measures its copies, and takes the way that was
// quickest for recent messages of that size. Now and then it tries another way again.
const (
	sizeClasses = 8 // up to 16 KiB, then one for each doubling, the last open
	firstClass  = 14

	// A trial is a run of messages of which the later half counts: how quick a way
	// is depends on which caches the one before has left the bytes in. The first
	// trial of the pipeline is longer, because the ring's pages are touched in it.
	trial      = 16
	firstTrial = 4 << 20 // bytes

	// patience is how many messages go other ways while another link makes the first trial of one.
	patience = 512

	// Messages between trials of a way: the gap begins short and doubles, up to
	// where trials of a way as slow as this one take a share of the time at most.
	firstGap = 64
	nearGap  = 1024 // the least such bound, for ways that are nearly as quick
	lastGap  = 8192
	share    = 128 // trials take 1/share of the time

	// A change of the quickest way's cost by this factor says that the machine is
	// not as it was: the other ways have to be measured again.
	upset = 1.5
)

// chooser holds what a link has measured. Of a way that it does not know it takes what another link of the port
// has measured first, so that among many peers not each link begins with trials.
type chooser struct {
	classes [sizeClasses]sizeClass
	port    *experience // nil: the link is alone
}

// experience is what links of a port have measured recently.
type experience [sizeClasses][wayEnd]struct {
	tried  bool    // a link tries the way, or has tried it
	cost   float64 // 0: not known yet
	passed int     // messages that went other ways meanwhile
}

type sizeClass struct {
	ways [wayEnd]record

	trying way
	left   int // messages of the trial that are still to come
}

// record is what is known of a way.
type record struct {
	cost    float64 // nanoseconds a KiB, smoothed; 0: not known
	settled float64 // the cost when the gaps were last set because of this way
	tried   bool
	gap     int
	wait    int // messages until it is tried again
}

func classOf(n int) int {
	return min(max(bits.Len(uint(n-1))-firstClass, 0), sizeClasses-1)
}

// choose returns the way for a message of n bytes, out of those that are open.
// The pipeline always is.
func (c *chooser) choose(n int, open [wayEnd]bool) way {
	s := &c.classes[classOf(n)]
	if s.left > 0 && open[s.trying] {
		s.left--
		return s.trying
	}
	best := byPipeline
	for w := range wayEnd {
		c.learn(n, w)
		r, least := &s.ways[w], s.ways[best].cost
		switch {
		case !open[w] || !r.tried && c.leaveTrial(n, w):
		case !r.tried:
			r.tried, r.gap, r.wait = true, firstGap, firstGap
			return s.try(w, w.firstTrial(n))
		case r.cost > 0 && (least == 0 || r.cost < least):
			best = w
		}
	}
	s.notice(&s.ways[best])
	for w := range wayEnd {
		if r := &s.ways[w]; open[w] && w != best {
			if r.wait--; r.wait <= 0 {
				r.gap = min(2*r.gap, longestGap(r.cost, s.ways[best].cost))
				r.wait = r.gap
				return s.try(w, trial)
			}
		}
	}
	return best
}

// firstTrial is how many messages of n bytes the first trial takes.
func (w way) firstTrial(n int) int {
	if w == byPipeline {
		return max(trial, firstTrial/max(n, 1<<firstClass))
	}
	return trial
}

// learn takes what another link has found of a way that this one has not tried.
func (c *chooser) learn(n int, w way) {
	k := classOf(n)
	if r := &c.classes[k].ways[w]; !r.tried && c.port != nil && c.port[k][w].cost > 0 {
		r.tried, r.gap, r.wait, r.cost = true, firstGap, firstGap, c.port[k][w].cost
	}
}

// leaveTrial reports whether the first trial of a way is left to another link for now.
func (c *chooser) leaveTrial(n int, w way) bool {
	if c.port == nil {
		return false
	}
	known := &c.port[classOf(n)][w]
	if !known.tried || known.passed == patience { // the link that tried it may have ended
		known.tried, known.passed = true, 0
		return false
	}
	known.passed++
	return true
}

// longestGap returns how many messages may lie between trials of a way.
func longestGap(cost, least float64) int {
	if cost == 0 || least == 0 {
		return nearGap
	}
	lost := trial * (cost/least - 1) // by a trial, in messages
	return int(min(max(share*lost, nearGap), lastGap))
}

// notice shortens the gaps again if the cost of the quickest way has changed.
func (s *sizeClass) notice(best *record) {
	if best.cost < best.settled*upset && best.cost*upset > best.settled {
		return
	}
	best.settled = best.cost
	for w := range s.ways {
		s.ways[w].gap, s.ways[w].wait = firstGap, firstGap
	}
}

func (s *sizeClass) try(w way, messages int) way {
	s.trying, s.left = w, messages-1
	return w
}

// counts reports whether the message of n bytes for which a way has just been chosen is to be measured.
func (c *chooser) counts(n int) bool { return c.classes[classOf(n)].left <= trial/2 }

// measured notes that n bytes took that long.
func (c *chooser) measured(n int, w way, took time.Duration) {
	s := &c.classes[classOf(n)]
	cost := float64(max(took, 1)) * 1024 / float64(n)
	switch r := &s.ways[w]; {
	case r.cost == 0:
		r.cost = cost
	case cost < r.cost:
		r.cost += (cost - r.cost) / 2
	default: // an interrupt makes one message slow, however much, but none quick
		r.cost += min(cost-r.cost, r.cost) / 16
	}
	if c.port != nil {
		c.port[classOf(n)][w].cost = s.ways[w].cost
	}
}
