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
	robs   int
	waits  int // since the core was kept or offered, or the last spin in vain
	misses int
	off    int
}

// robbed notes that an offer went to a neighbour who computes, and reports whether the core is kept from now on.
func (h *keeping) robbed() bool {
	if h.robs++; h.robs >= sureOfRobs && h.waits >= h.off {
		h.on, h.waits, h.misses = true, 0, 0
	}
	return h.on
}

// spared notes that an offer was over soon.
func (h *keeping) spared() { h.robs = max(h.robs-1, 0) }

// begin reports whether the wait that begins spins on a core that is kept.
func (h *keeping) begin() bool {
	if h.on && h.waits > heldWaits {
		h.on, h.robs, h.waits, h.off = false, sureOfRobs-1, 0, 0
	}
	h.tried = h.on
	return h.on
}

// slept notes that a caller sleeps. It reports whether that was after a spin in vain.
func (h *keeping) slept() bool {
	if !h.tried {
		return false
	}
	h.tried = false
	if h.waits >= worthHold {
		h.misses, h.off = 0, 0
	} else {
		h.misses++
	}
	h.waits = 0
	if h.misses == vainHolds {
		h.on, h.robs, h.off = false, 0, min(max(moreOff*h.off, leastOff), mostOff)
	}
	return true
}
