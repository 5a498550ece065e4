package queue

// Claim is the side of a rank that asks for a lock: one attempt at a time. The zero Claim has nothing and wants nothing.
type Claim struct {
	stage   stage
	attempt uint64 // the number of the last one
	word    Word   // what the lock's word says if the attempt has the lock by it, or Free
}

type stage uint8

const (
	idle      stage = iota
	asking          // the other side is asked, and has not answered
	holding         // the rank has the lock
	returning       // the other side is asked to take it back, and has not answered
)

// Ask begins an attempt, which has the number that is returned. False: there is one already.
func (c *Claim) Ask() (attempt uint64, ok bool) {
	if c.stage != idle {
		return 0, false
	}
	c.stage, c.word = asking, Free
	c.attempt++
	return c.attempt, true
}

// Try begins to take the lock for a rank by its word, which is to be compared with Free and swapped by what is returned. If it is another one, Missed comes
// next, and otherwise Granted. False: the other side has to be asked at once.
func (c *Claim) Try(rank int, exclusive bool) (own Word, ok bool) {
	if own, ok = wordOf(rank, c.attempt, exclusive); ok {
		c.word = own
	}
	return own, ok
}

// Missed notes that the word does not say what the rank has expected: the other side decides.
func (c *Claim) Missed() { c.word = Free }

// Word returns what the lock's word says if the attempt has the lock by it, which is then to be compared with that and swapped by Free to give the lock
// back. If it is another one, the other side is to be asked, as it is at once if there is none, which is false.
func (c *Claim) Word() (own Word, ok bool) { return c.word, c.word != Free }

// Granted notes that the lock is there.
func (c *Claim) Granted() { c.stage = holding }

// Return begins to give the lock back, whose attempt is returned. False: it is not held.
func (c *Claim) Return() (attempt uint64, ok bool) {
	if c.stage != holding {
		return 0, false
	}
	c.stage = returning
	return c.attempt, true
}

// Over ends the attempt and returns its number: it was refused, given back or undone. What
// is undone, the other side has to be told so before the next attempt.
func (c *Claim) Over() (attempt uint64) {
	c.stage, c.word = idle, Free
	return c.attempt
}

// Holds reports whether the rank has the lock, and nobody gives it back.
func (c *Claim) Holds() bool { return c.stage == holding }

// Idle reports whether there is no attempt.
func (c *Claim) Idle() bool { return c.stage == idle }
