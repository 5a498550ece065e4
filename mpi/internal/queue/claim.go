package queue

// Claim is the part of a rank that asks for a lock, with one attempt at a time. The zero Claim has no attempt.
type Claim struct {
	stage   stage
	attempt uint64 // the number of the last one
	word    Word   // the value of the lock's word if the attempt has taken the lock through it, or Free
}

type stage uint8

const (
	idle      stage = iota
	asking          // the Lock was asked, and has not answered
	holding         // the rank has the lock
	returning       // the Lock was asked to take the lock back, and has not answered
)

// Ask begins an attempt and returns its number. ok is false if there is an attempt already.
func (c *Claim) Ask() (attempt uint64, ok bool) {
	if c.stage != idle {
		return 0, false
	}
	c.stage, c.word = asking, Free
	c.attempt++
	return c.attempt, true
}

// Try begins to take the lock for a rank through its word: the caller compares the word with Free and swaps it for own.
// It then calls Granted if that succeeded, and Missed if the word had another value. ok is false if the attempt does not
// fit into a word: the Lock has to be asked at once.
func (c *Claim) Try(rank int, exclusive bool) (own Word, ok bool) {
	if own, ok = wordOf(rank, c.attempt, exclusive); ok {
		c.word = own
	}
	return own, ok
}

// Missed notes that the word did not have the expected value, so that the Lock decides.
func (c *Claim) Missed() { c.word = Free }

// Word returns the value of the lock's word if the attempt has taken the lock through it. To give the lock back, the caller
// compares the word with this value and swaps it for Free, and asks the Lock if the word has another value. ok is false if
// the lock was not taken through the word: the Lock has to be asked at once.
func (c *Claim) Word() (own Word, ok bool) { return c.word, c.word != Free }

// Granted notes that the rank has the lock.
func (c *Claim) Granted() { c.stage = holding }

// Return begins to give the lock back, and returns the attempt that holds it. ok is false if the lock is not held.
func (c *Claim) Return() (attempt uint64, ok bool) {
	if c.stage != holding {
		return 0, false
	}
	c.stage = returning
	return c.attempt, true
}

// Over ends an attempt that was refused, given back or undone, and returns its number. If it was undone, the Lock has to
// be told of it before the next attempt.
func (c *Claim) Over() (attempt uint64) {
	c.stage, c.word = idle, Free
	return c.attempt
}

// Holds reports whether the rank has the lock, and is not giving it back.
func (c *Claim) Holds() bool { return c.stage == holding }

// Idle reports whether there is no attempt.
func (c *Claim) Idle() bool { return c.stage == idle }
