package driver

// These constants decide when the endpoint's own goroutine does not spin.
const (
	vainSpins = 4   // number of spins in a row in which nothing arrived, after which the goroutine sleeps at once
	ownRests  = 16  // number of waits for which it sleeps at once; each repetition doubles the number
	mostRests = 256 // upper bound of these waits
)

// ownSpin decides whether the endpoint's own goroutine spins for the callers that are parked. A spin takes a core from the
// program's goroutines and perhaps from the peers whose messages are awaited. If messages come later than it spins, the spin
// itself delays them.
type ownSpin struct {
	vain   int // spins in a row in which nothing arrived
	rests  int // number of coming waits that sleep at once
	series int // value of rests the last time
}

// begin reports whether the wait that begins is to spin.
func (s *ownSpin) begin() bool {
	if s.rests > 0 {
		s.rests--
		return false
	}
	return true
}

// end notes how a spin ended: something came, or nothing did.
func (s *ownSpin) end(came bool) {
	if came {
		s.vain, s.series = 0, 0
		return
	}
	if s.vain++; s.vain == vainSpins {
		s.series = min(max(2*s.series, ownRests), mostRests)
		s.vain, s.rests = 0, s.series
	}
}
