package driver

// When the endpoint's own goroutine does not spin.
const (
	vainSpins = 4   // spins in a row in which nothing came, until it sleeps at once
	ownRests  = 16  // for so many waits, and twice as many each time that it happens again
	mostRests = 256 // but no more than so many
)

// ownSpin is whether it pays that the endpoint's own goroutine spins, for those who are parked. While it does, the goroutines
// of the program have a core less, and so have those whose messages it waits for: where they come later than it spins, it
// is what delays them.
type ownSpin struct {
	vain   int // spins in a row in which nothing came
	rests  int // waits to come that sleep at once
	series int // how many they were the last time
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
