package driver

// When to keep the core beside a neighbour who computes.
const (
	sureOfRobs = 3   // offers that went to one, more than came back soon, until the core is kept
	heldSpin   = 40  // the longest spin on a core that is kept is so many times as long: only the system ends it sooner
	worthHold  = 200 // waits between two spins in vain that say that keeping the core pays
	vainHolds  = 4   // spins in vain, without that, until it is offered again
	leastOff   = 256 // for at least so many waits, and so many times as many each time
	moreOff    = 8
	mostOff    = 1 << 16 // but no more than so many
	heldWaits  = 1 << 20 // waits after which it is offered, to see whether he is still there
)

// keeping is the holding on to of a core that is shared with a neighbour who computes. Whoever is offered the core has it for the whole of
// his slice then, and who sleeps waits for the end of one: a peer who has a core of his own, even if he shares it, is waited for thousands of
// times sooner by spinning without a pause, and the system shares the core out anyway. A peer who needs this core does not come meanwhile:
// such spins are in vain.
type keeping struct {
	on     bool
	tried  bool // the wait of the moment spins under it
	robs   int  // offers that went to one, less those that came back soon
	waits  int  // since the core was kept or offered, or the last spin in vain
	misses int  // spins in vain in a row
	off    int  // waits that the core is offered for after those
}

// robbed notes that an offer went to a neighbour who computes, and reports whether the core is kept from now on.
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
