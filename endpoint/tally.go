package endpoint

// Tally counts the messages of one class: those whose match information has the same bits from Config.ClassShift on.
// Puts and gets belong to none.
type Tally struct {
	Sent, SentBytes         uint64 // messages that have left, or whose header has
	Received, ReceivedBytes uint64 // messages that a receive has taken
	Waits, Waited           uint64 // waits of callers that proved long, and their time in nanoseconds
}

// add adds what u has counted.
func (t *Tally) add(u *Tally) {
	t.Sent += u.Sent
	t.SentBytes += u.SentBytes
	t.Received += u.Received
	t.ReceivedBytes += u.ReceivedBytes
	t.Waits += u.Waits
	t.Waited += u.Waited
}

// send counts a message that has left.
func (t *Tally) send(bytes int) {
	t.Sent++
	t.SentBytes += uint64(bytes)
}

// receive counts a message that a receive has taken.
func (t *Tally) receive(bytes int) {
	t.Received++
	t.ReceivedBytes += uint64(bytes)
}

// tallySlots is how many classes have their tally at hand. It is a power of two.
const tallySlots = 16

// tallies are the tallies of all classes. The class of the last message costs a comparison, and the latest of each slot
// a call; others cost a look into a map.
type tallies struct {
	shift uint8 // 64: there is one class, 0
	class uint64
	last  *Tally // of the class
	slots [tallySlots]struct {
		class uint64
		Tally
	}
	others map[uint64]*Tally
}

func (c *tallies) begin(shift uint8) {
	if c.shift = shift; shift == 0 {
		c.shift = 64
	}
	c.last = &c.slots[0].Tally
}

// of returns the tally of a message.
func (c *tallies) of(match uint64) *Tally {
	if match>>c.shift == c.class {
		return c.last
	}
	return c.fetch(match >> c.shift)
}

// fetch puts the tally of a class into its slot.
func (c *tallies) fetch(class uint64) *Tally {
	t := &c.slots[class%tallySlots]
	if t.class != class {
		kept := c.others[class]
		if kept == nil {
			kept = &Tally{}
		}
		if c.others == nil {
			c.others = map[uint64]*Tally{}
		}
		delete(c.others, class)
		t.Tally, *kept = *kept, t.Tally
		if *kept != (Tally{}) {
			c.others[t.class] = kept
		}
		t.class = class
	}
	c.class, c.last = class, &t.Tally
	return c.last
}

// Tallies returns the tally of each class that has had a message or a wait. Without Config.ClassShift it is one, of class 0.
func (e *Engine) Tallies() map[uint64]Tally {
	all := make(map[uint64]Tally, len(e.classes.others)+tallySlots)
	for i := range e.classes.slots {
		if t := &e.classes.slots[i]; t.Tally != (Tally{}) {
			all[t.class] = t.Tally
		}
	}
	for class, t := range e.classes.others {
		all[class] = *t
	}
	return all
}

// MergeTally adds the tally of a class that is not used any more to that of another, and forgets it.
func (e *Engine) MergeTally(class, into uint64) {
	c := &e.classes
	t := *c.fetch(class)
	*c.fetch(class) = Tally{}
	c.fetch(into).add(&t)
}

// ClassOf returns the class that a wait for a request belongs to; without the request, 0.
func (e *Engine) ClassOf(h Handle) uint64 {
	if _, r := e.reqs.user(h); r != nil {
		return r.match >> e.classes.shift
	}
	return 0
}

// ClassOfCatch returns the class of the receive that Catch has begun.
func (e *Engine) ClassOfCatch() uint64 { return e.catch.value >> e.classes.shift }

// Waited counts a wait of so many nanoseconds.
func (e *Engine) Waited(class, nanoseconds uint64) {
	t := e.classes.fetch(class)
	t.Waits++
	t.Waited += nanoseconds
}
