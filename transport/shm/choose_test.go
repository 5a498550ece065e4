//go:build linux

package shm

import (
	"testing"
	"time"
)

// run sends messages of n bytes over a link on which each way takes so long, and
// returns how often each was chosen.
func run(c *chooser, n, messages int, open [wayEnd]bool, took [wayEnd]time.Duration) (chosen [wayEnd]int) {
	for range messages {
		w := c.choose(n, open)
		chosen[w]++
		if c.counts(n) {
			c.measured(n, w, took[w])
		}
	}
	return chosen
}

func TestChooseTakesTheQuickest(t *testing.T) {
	all := [wayEnd]bool{true, true, true}
	for quick := range wayEnd {
		took := [wayEnd]time.Duration{30, 30, 30}
		took[quick] = 20
		var c chooser
		if got := run(&c, 100_000, 20_000, all, took); got[quick] < 19_000 {
			t.Errorf("way %d is quickest, but was chosen %v", quick, got)
		}
	}
}

func TestChooseFollowsAChange(t *testing.T) {
	all := [wayEnd]bool{false, true, true}
	var c chooser
	run(&c, 100_000, 1000, all, [wayEnd]time.Duration{0, 10, 30})
	run(&c, 100_000, 5000, all, [wayEnd]time.Duration{0, 60, 30})
	if got := run(&c, 100_000, 1000, all, [wayEnd]time.Duration{0, 60, 30}); got[byPipeline] < 900 {
		t.Errorf("blocks have become quicker, but were chosen %d times of 1000", got[byPipeline])
	}
}

func TestChooseNeverTakesAClosedWay(t *testing.T) {
	var c chooser
	open := [wayEnd]bool{false, false, true}
	if got := run(&c, 1<<20, 500, open, [wayEnd]time.Duration{1, 1, 100}); got[byPipeline] != 500 {
		t.Errorf("only blocks are open, chosen %v", got)
	}
}

func TestChooseKeepsSizesApart(t *testing.T) {
	all := [wayEnd]bool{false, true, true}
	var c chooser
	run(&c, 20_000, 2000, all, [wayEnd]time.Duration{0, 10, 30})
	run(&c, 1<<20, 2000, all, [wayEnd]time.Duration{0, 30, 10})
	if got := run(&c, 20_000, 200, all, [wayEnd]time.Duration{0, 10, 30}); got[byRead] < 160 {
		t.Errorf("20 kB go %v ways", got)
	}
	if got := run(&c, 1<<20, 200, all, [wayEnd]time.Duration{0, 30, 10}); got[byPipeline] < 160 {
		t.Errorf("1 MiB goes %v ways", got)
	}
}

// A process that was interrupted finds one message a thousand times as slow, which
// says nothing about the way it came.
func TestChooseForgivesAnInterrupt(t *testing.T) {
	all := [wayEnd]bool{true, true, true}
	took := [wayEnd]time.Duration{20, 90, 30}
	var c chooser
	run(&c, 100_000, 2000, all, took)
	for range 20 {
		run(&c, 100_000, 49, all, took)
		c.measured(100_000, byArena, 20_000)
	}
	if got := run(&c, 100_000, 1000, all, took); got[byArena] < 900 {
		t.Errorf("the arena is quickest but for interrupts, and was chosen %d times of 1000", got[byArena])
	}
}

// The host may have had the two cores far apart while the first trials ran.
func TestChooseLooksAgainWhenTheMachineChanges(t *testing.T) {
	all := [wayEnd]bool{true, true, true}
	var c chooser
	run(&c, 100_000, 200, all, [wayEnd]time.Duration{90, 90, 60})
	run(&c, 100_000, 300, all, [wayEnd]time.Duration{20, 90, 30})
	if got := run(&c, 100_000, 1000, all, [wayEnd]time.Duration{20, 90, 30}); got[byArena] < 850 {
		t.Errorf("the arena has become the quickest, and was chosen %v", got)
	}
}

// Memory of both kinds goes over one link, and each has a quickest way of its own.
func TestChooseKeepsKindsOfMemoryApart(t *testing.T) {
	arena, ordinary := [wayEnd]bool{true, true, true}, [wayEnd]bool{false, true, true}
	took := [wayEnd]time.Duration{20, 90, 40}
	var c chooser
	run(&c, 100_000, 1000, ordinary, took)
	var got [wayEnd]int
	for range 2000 {
		for _, open := range [][wayEnd]bool{arena, ordinary} {
			for w, n := range run(&c, 100_000, 1, open, took) {
				got[w] += n
			}
		}
	}
	if got[byArena] < 1800 || got[byPipeline] < 1800 {
		t.Errorf("2000 messages of each kind went these ways: %v", got)
	}
}

// Among many links one makes the first trial of a way, and the others begin with what it found; they go another
// way meanwhile, but not for ever: the one may have ended.
func TestChooseLearnsFromOtherLinks(t *testing.T) {
	open, took := [wayEnd]bool{false, true, true}, [wayEnd]time.Duration{0, 20, 60}
	var learned experience
	first, second := chooser{port: &learned}, chooser{port: &learned}
	first.choose(1<<20, open) // begins a trial
	if got := run(&second, 1<<20, 10, open, took); got[byPipeline] != 10 {
		t.Errorf("another link tries to read, and this one does, too: %v", got)
	}
	run(&first, 1<<20, 200, open, took)
	third := chooser{port: &learned}
	if got := run(&third, 1<<20, 60, open, took); got[byRead] != 60 {
		t.Errorf("reading is known to be quicker, and these ways were taken: %v", got)
	}
	var orphaned experience
	gone, left := chooser{port: &orphaned}, chooser{port: &orphaned}
	gone.choose(1<<20, open)
	if got := run(&left, 1<<20, 2*patience, open, took); got[byRead] < patience/2 {
		t.Errorf("the link that tried to read is gone, and this one never does: %v", got)
	}
}
