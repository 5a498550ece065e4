package stream

// Flags say how a receive is to be served.
type Flags uint8

// The flags of a receive.
const (
	// WaitAll: only all the bytes asked for complete it, or the end of the stream.
	WaitAll Flags = 1 << iota
	// Peek: what it gets stays in the stream. With WaitAll it gets no more than the
	// buffer can hold.
	Peek
	// Hidden: its memory is not advertised, if there is a buffer.
	Hidden
)

// receive is a user's receive.
type receive struct {
	id      ID
	owner   uint64 // its adverts name it so
	n       int
	filled  int // bytes it has, in order
	offered int // bytes advertised, from the first on
	adverts int // outstanding
	flags   Flags
	over    Status
	leaving bool // it is over as soon as no advert is outstanding
}

func (u *receive) all() bool  { return u.flags&WaitAll != 0 }
func (u *receive) peek() bool { return u.flags&Peek != 0 }

// ReceiverCounters count what a Receiver has done.
type ReceiverCounters struct {
	DirectBytes   uint64 // straight into advertised memory
	IndirectBytes uint64 // others
	PlacedBytes   uint64 // of those, from the message into the user's memory
	CopiedBytes   uint64 // out of the buffer, peeks included
	Adverts       uint64
	Voided        uint64 // adverts given up because the sender was ahead
	Withdrawn     uint64 // adverts withdrawn for a cancelled receive
	Strays        uint64 // direct messages for these
	BufferSize    int    // bytes of memory
	BufferPeak    int    // bytes that lay there at most
}

// Receiver is the receiving end of one direction. A Receiver belongs to one
// goroutine at a time. The zero value needs Init.
type Receiver struct {
	script script
	cfg    Config
	count  ReceiverCounters

	waiting queue[receive]
	offered int // how many of waiting are advertised as far as they can be
	leaving int // how many of waiting are leaving
	owners  uint64

	adverts adverts
	buffer  buffer
	strays  int // bytes of the buffer that came as direct messages; they lie first

	position uint64 // bytes that have come or are coming, up to the first unknown
	indirect uint64 // indirect ones
	freed    uint64 // of those, consumed
	granted  uint64 // how many the sender may send
	capacity int    // what granted is kept ahead of freed
	wanted   int    // what capacity becomes, as soon as it can

	worth int    // above 0: recent messages were large enough for adverts
	asked bool   // the sender holds
	ask   uint32 // the number of its question

	fin, shut, dead bool
	lost            bool // nothing comes from the peer any more
	end             uint64
}

// worthMost is how many small messages in a row stop adverts.
const worthMost = 4

// NewReceiver returns a Receiver. Error: ErrConfig.
func NewReceiver(c Config) (*Receiver, error) {
	r := new(Receiver)
	return r, r.Init(c)
}

// Init makes r a new Receiver. It is NewReceiver for one that lies in other memory.
func (r *Receiver) Init(c Config) error {
	c, err := c.Complete()
	if err != nil {
		return err
	}
	*r = Receiver{cfg: c, capacity: c.window(), wanted: c.window(), granted: uint64(c.window()), worth: worthMost}
	return nil
}

// Next takes the oldest action that was not taken yet. Actions are to be carried
// out in order, after every other call.
func (r *Receiver) Next(a *Action) bool { return r.script.next(a) }

// Counters returns what r has done so far.
func (r *Receiver) Counters() ReceiverCounters {
	c := r.count
	c.BufferSize, c.BufferPeak = r.buffer.size, r.buffer.peak
	return c
}

// Buffered returns how many bytes a receive would get at once.
func (r *Receiver) Buffered() int { return r.buffer.here }

// Ended reports that the stream is over and all of it consumed.
func (r *Receiver) Ended() bool {
	return r.fin && r.adverts.len() == 0 && r.buffer.held == 0
}

// Receive queues a receive of up to n bytes. Errors: ErrReset, ErrNoPeek.
func (r *Receiver) Receive(id ID, n int, flags Flags) error {
	switch {
	case r.dead:
		return ErrReset
	case flags&Peek != 0 && !r.cfg.buffered():
		return ErrNoPeek
	case !r.cfg.buffered():
		flags &^= Hidden
	}
	r.owners++
	*r.waiting.push() = receive{id: id, owner: r.owners, n: n, flags: flags}
	r.settle()
	return nil
}

// Cancel ends a receive before its time, without asking the peer. False means that
// there is no such receive, or that it is being cancelled. It finishes as
// Cancelled with the bytes it has got, or as OK if data is landing in it.
func (r *Receiver) Cancel(id ID) bool {
	for i := range r.waiting.len() {
		if u := r.waiting.at(i); u.id == id {
			if u.leaving {
				return false
			}
			r.leave(u, Cancelled)
			r.part()
			return true
		}
	}
	return false
}

// Stay takes a Cancel back of a receive that has not finished since, because data is landing in it: it goes on as if it had not been
// cancelled.
func (r *Receiver) Stay(id ID) {
	for i := range r.waiting.len() {
		if u := r.waiting.at(i); u.id == id && u.leaving && u.over == Cancelled {
			u.leaving, u.over = false, OK
			r.leaving--
			r.settle()
			return
		}
	}
}

// Shutdown ends reading: receives finish as OK with what they have, and bytes that
// come are thrown away. Without a buffer the sender will wait for ever.
func (r *Receiver) Shutdown() {
	r.shut = true
	for i := range r.waiting.len() {
		r.leave(r.waiting.at(i), OK)
	}
	r.part()
}

// Reset aborts all receives, each as soon as nothing can land in its memory.
func (r *Receiver) Reset() {
	r.dead = true
	r.forgetLanded()
	for i := range r.waiting.len() {
		r.leave(r.waiting.at(i), Aborted)
	}
	r.part()
}

// Trim gives up the buffer's memory if nothing lies there. It comes back with use.
func (r *Receiver) Trim() {
	if r.buffer.size > 0 && r.buffer.held == 0 {
		r.buffer.resize(0, &r.script)
	}
}

func (r *Receiver) leave(u *receive, how Status) {
	if !u.leaving {
		u.leaving = true
		r.leaving++
	}
	u.over = how
}

// part sees those off that are leaving.
func (r *Receiver) part() {
	r.takeBack()
	r.reap()
	r.settle()
}

// reap finishes what is leaving and has no advert outstanding.
func (r *Receiver) reap() {
	for i := 0; r.leaving > 0 && i < r.waiting.len(); {
		if u := r.waiting.at(i); u.leaving && u.adverts == 0 {
			r.finish(i, u.over)
		} else {
			i++
		}
	}
}

// finish ends receive i.
func (r *Receiver) finish(i int, how Status) {
	u := r.waiting.at(i)
	if u.leaving {
		r.leaving--
	}
	r.script.finish(u.id, u.filled, how)
	if i == 0 {
		r.waiting.pop()
	} else {
		r.waiting.remove(i)
	}
	if i < r.offered {
		r.offered--
	}
}

// settle does what has become possible: bytes go from the buffer to the receives,
// and the sender hears of the room.
func (r *Receiver) settle() {
	if r.dead {
		return
	}
	r.deliver()
	if r.lost {
		return
	}
	if r.cfg.buffered() {
		r.grant()
	}
	r.advertise()
	if r.asked && !r.adverts.unsettled() && !r.buffer.fetching() {
		r.asked = false
		r.granted = r.freed + uint64(r.capacity)
		r.script.tell(Message{Kind: Answer, Number: r.ask, Window: r.granted})
	}
}
