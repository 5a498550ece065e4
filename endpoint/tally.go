package endpoint

import "gomx/match"

// Counting says whether messages are counted: see match.Counting.
const Counting = match.Counting

// Tally counts the messages of one class: those whose match information has the same bits from Config.ClassShift on.
// Puts and gets belong to none.
type Tally struct {
	Sent, SentBytes         uint64 // messages that have left, or whose header has
	Received, ReceivedBytes uint64 // messages that a receive has taken
	Waits, Waited           uint64 // waits of callers that proved long, and their time in nanoseconds
	Spent                   uint64 // nanoseconds of calls outside such waits, as estimated by the caller of the engine
}

// add adds what u has counted.
func (t *Tally) add(u *Tally) {
	t.Sent += u.Sent
	t.SentBytes += u.SentBytes
	t.Received += u.Received
	t.ReceivedBytes += u.ReceivedBytes
	t.Waits += u.Waits
	t.Waited += u.Waited
	t.Spent += u.Spent
}

// send counts a message that has left.
func (t *Tally) send(bytes int) {
	if match.Counting {
		t.Sent++
		t.SentBytes += uint64(bytes)
	}
}

// receive counts a message that a receive has taken.
func (t *Tally) receive(bytes int) {
	if match.Counting {
		t.Received++
		t.ReceivedBytes += uint64(bytes)
	}
}

// tallies are the tallies of all classes. That of the last message is at hand: one of the same class costs a comparison. Eager messages
// of that class over one medium are counted once for both, and added to both when either changes or somebody wants to know.
type tallies struct {
	mask   uint64  // the bits that make the class; none: there is one class, 0
	value  uint64  // those of the class at hand
	medium *Medium // at hand
	eager  Tally   // of the class and the medium at hand, since it was last added to them
	now    Tally   // of the class at hand

	shift uint8 // 64: there is one class, 0
	rest  *otherTallies
}

// tallySlots is how many classes have a slot. It is a power of two.
const tallySlots = 16

// otherTallies are the tallies of classes that are not at hand. The latest class of each slot costs a call; others cost a look into a map.
type otherTallies struct {
	slots [tallySlots]struct {
		class uint64
		Tally
	}
	far map[uint64]*Tally
}

func (c *tallies) begin(shift uint8) {
	if c.shift = shift; shift == 0 {
		c.shift = 64
	}
	c.mask = ^uint64(0) >> c.shift << c.shift
}

// of returns the tally of a message.
func (c *tallies) of(info uint64) *Tally {
	if match.Counting && (info^c.value)&c.mask != 0 {
		c.change(info)
	}
	return &c.now
}

// over returns where an eager message is counted, for its medium and for its class.
func (c *tallies) over(m *Medium, info uint64) *Tally {
	if match.Counting && (m != c.medium || (info^c.value)&c.mask != 0) {
		c.turn(m, info)
	}
	return &c.eager
}

// turn puts another medium at hand, or the tally of another class.
func (c *tallies) turn(m *Medium, info uint64) {
	c.settle()
	c.medium = m
	c.of(info)
}

// settle adds what was counted for both the class and the medium at hand.
func (c *tallies) settle() {
	m, n := c.medium, &c.eager
	if m == nil {
		return
	}
	m.SentEager += n.Sent
	m.BytesSent += n.SentBytes
	m.RecvEager += n.Received
	m.BytesReceived += n.ReceivedBytes
	c.now.add(n)
	*n = Tally{}
}

// change puts the tally of another class at hand.
func (c *tallies) change(info uint64) {
	c.settle()
	if c.rest == nil {
		c.rest = &otherTallies{far: map[uint64]*Tally{}}
	}
	from, to := c.rest.of(c.value>>c.shift), info>>c.shift
	*from = c.now
	t := c.rest.of(to)
	c.now, *t = *t, Tally{}
	c.value = info & c.mask
}

// of returns where the tally of a class is kept, which is its slot.
func (o *otherTallies) of(class uint64) *Tally {
	t := &o.slots[class%tallySlots]
	if t.class == class {
		return &t.Tally
	}
	kept := o.far[class]
	if kept == nil {
		kept = &Tally{}
	}
	delete(o.far, class)
	t.Tally, *kept = *kept, t.Tally
	if *kept != (Tally{}) {
		o.far[t.class] = kept
	}
	t.class = class
	return &t.Tally
}

// Tallies returns the tally of each class that has had a message or a wait. Without Config.ClassShift it is one, of class 0.
func (e *Engine) Tallies() map[uint64]Tally {
	c := &e.classes
	c.settle()
	all := map[uint64]Tally{}
	if c.now != (Tally{}) {
		all[c.value>>c.shift] = c.now
	}
	if c.rest == nil {
		return all
	}
	for i := range c.rest.slots {
		if t := &c.rest.slots[i]; t.Tally != (Tally{}) {
			all[t.class] = t.Tally
		}
	}
	for class, t := range c.rest.far {
		all[class] = *t
	}
	return all
}

// MergeTally adds the tally of a class that is not used any more to that of another, and forgets it. Without Config.ClassShift
// there is nothing to merge.
func (e *Engine) MergeTally(class, into uint64) {
	c := &e.classes
	if c.mask == 0 {
		return
	}
	c.settle()
	t := e.tally(class)
	was := *t
	*t = Tally{}
	e.tally(into).add(&was)
}

// tally returns the tally of a class. It may be one that no message has.
func (e *Engine) tally(class uint64) *Tally {
	c := &e.classes
	if class == c.value>>c.shift {
		return &c.now
	}
	if c.rest == nil {
		c.rest = &otherTallies{far: map[uint64]*Tally{}}
	}
	return c.rest.of(class)
}

// ClassOf returns the class that a wait for a request belongs to; without the request, 0.
func (e *Engine) ClassOf(h Handle) uint64 {
	if _, r := e.reqs.user(h); r != nil {
		return e.ClassOfMatch(r.match)
	}
	return 0
}

// ClassOfMatch returns the class of messages by their match information.
func (e *Engine) ClassOfMatch(info uint64) uint64 { return info >> e.classes.shift }

// Turn says that the next call is about the messages of the class of a request, for which LatestClass then is.
func (e *Engine) Turn(h Handle) {
	if _, r := e.reqs.user(h); r != nil {
		e.classes.of(r.match)
	}
}

// TurnTo is Turn for a message that is about to be sent or received.
func (e *Engine) TurnTo(info uint64) { e.classes.of(info) }

// LatestClass returns the class of the latest message or Turn.
func (e *Engine) LatestClass() uint64 { return e.classes.value >> e.classes.shift }

// ClassOfInline returns the class of the inline receive.
func (e *Engine) ClassOfInline() uint64 { return e.ClassOfMatch(e.inline.value) }

// Waited counts a wait of so many nanoseconds.
func (e *Engine) Waited(class, nanoseconds uint64) {
	t := e.tally(class)
	t.Waits++
	t.Waited += nanoseconds
}

// Spent counts the time of calls.
func (e *Engine) Spent(class, nanoseconds uint64) { e.tally(class).Spent += nanoseconds }
