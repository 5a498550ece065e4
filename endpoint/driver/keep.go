package driver

// These constants decide when an endpoint keeps a core that it shares with a process that computes. If such a process takes an offer
// of the core, it keeps the core for a whole time slice; that is called a robbery here.
const (
	sureOfRobs = 3   // the core is kept when robberies outnumber offers that were over soon by this number
	heldSpin   = 40  // factor of the longest spin on a core that is kept; only the system ends such a spin sooner
	worthHold  = 200 // keeping the core pays if there are at least this many waits between two spins in vain
	vainHolds  = 4   // the core is offered again after this many spins in vain in a row, each within worthHold waits of the one before
	leastOff   = 256 // least number of waits for which the core is offered then; each repetition multiplies it
	moreOff    = 8
	mostOff    = 1 << 16 // greatest number of such waits
	heldWaits  = 1 << 20 // number of waits after which the core is offered, to find out whether the other process still computes
)

// keeping decides whether to keep a core that is shared with a process that computes. If the core is offered, that process has it
// for its whole time slice, and a caller that sleeps has to wait for the end of a slice, too. Spinning without a pause finds
// the message of a peer on another core thousands of times sooner, and the system still gives the other process its share.
// A peer that needs this very core can't send meanwhile, and the spin is in vain.
type keeping struct {
	on     bool
	tried  bool // the present wait spins on a core that is kept
	robs   int  // robberies, less the offers that were over soon
	waits  int  // waits since the core was kept or offered, or since the last spin in vain
	misses int  // spins in vain in a row
	off    int  // coming waits for which the core is offered, after too many spins in vain
}

// robbed notes that a process that computes took an offer, and reports whether the core is kept from now on.
func (k *keeping) robbed() bool {
	if k.robs++; k.robs >= sureOfRobs && k.waits >= k.off {
		k.on, k.waits, k.misses = true, 0, 0
	}
	return k.on
}

// spared notes that an offer was over soon.
func (k *keeping) spared() { k.robs = max(k.robs-1, 0) }

// begin reports whether the wait that begins spins on a core that is kept. The endpoint's own goroutine does not.
func (k *keeping) begin(own bool) bool {
	if k.on && k.waits > heldWaits {
		k.on, k.robs, k.waits, k.off = false, sureOfRobs-1, 0, 0
	}
	k.tried = k.on && !own
	return k.tried
}

// slept notes that a caller sleeps. It reports whether that was after a spin in vain.
func (k *keeping) slept() bool {
	if !k.tried {
		return false
	}
	k.tried = false
	if k.waits >= worthHold {
		k.misses, k.off = 0, 0
	} else {
		k.misses++
	}
	k.waits = 0
	if k.misses == vainHolds {
		k.on, k.robs, k.off = false, 0, min(max(moreOff*k.off, leastOff), mostOff)
	}
	return true
}
