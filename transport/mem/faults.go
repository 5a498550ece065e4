package mem

import "math/rand/v2"

// Faults says what a lossy network does to frames. Chances are between 0 and 1
// and hold for each frame. Each direction of each link has a random stream of
// its own, which depends on Seed and on how many links were made before, so one
// goroutine that does the same again sees the same again.
//
// A lossy network does not report that a peer has closed: the engine must find
// out for itself, as over datagrams.
type Faults struct {
	Seed      uint64
	Drop      float64 // chance to be lost
	Duplicate float64 // chance to arrive twice
	Reorder   float64 // chance to overtake some of the frames that wait
	MaxDelay  int     // a frame waits for 0 to this many Polls of the receiver's port
	CutEvery  int     // after this many frames of a direction (0: never) ...
	CutFor    int     // ... so many in a row are lost
}

func (f Faults) valid() bool {
	for _, chance := range [...]float64{f.Drop, f.Duplicate, f.Reorder} {
		if !(chance >= 0 && chance <= 1) {
			return false
		}
	}
	return f.MaxDelay >= 0 && f.CutEvery >= 0 && f.CutFor >= 0
}

// dice decides the fate of the frames of one lane.
type dice struct {
	Faults
	rng  *rand.Rand
	seen int // frames since the last cut ended
}

// dice returns the dice of lane number, or nil if there are no faults.
func (f Faults) dice(number uint64) *dice {
	if f == (Faults{}) {
		return nil
	}
	return &dice{Faults: f, rng: rand.New(rand.NewPCG(f.Seed, number))}
}

// copies returns how often the next frame arrives: 0, 1 or 2 times.
func (d *dice) copies() int {
	if d.inCut() || d.rng.Float64() < d.Drop {
		return 0
	}
	if d.rng.Float64() < d.Duplicate {
		return 2
	}
	return 1
}

func (d *dice) inCut() bool {
	if d.CutEvery == 0 {
		return false
	}
	d.seen++
	if d.seen <= d.CutEvery {
		return false
	}
	if d.seen >= d.CutEvery+d.CutFor {
		d.seen = 0
	}
	return d.CutFor > 0
}

// delay returns how many Polls the frame waits.
func (d *dice) delay() uint64 {
	if d.MaxDelay == 0 {
		return 0
	}
	return uint64(d.rng.IntN(d.MaxDelay + 1))
}

// place returns where in a queue of n frames the frame goes.
func (d *dice) place(n int) int {
	if n > 0 && d.rng.Float64() < d.Reorder {
		return d.rng.IntN(n)
	}
	return n
}
