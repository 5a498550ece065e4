package stream

// send is a user's send.
type send struct {
	id   ID
	n    int
	off  int // bytes that have become messages
	out  int // messages that have not left its memory
	over Status
}

// offer is an advert that can be used.
type offer struct {
	number uint32
	n      int
	whole  bool
}

// SenderCounters count what a Sender has done.
type SenderCounters struct {
	DirectBytes, IndirectBytes       uint64
	DirectMessages, IndirectMessages uint64
	Stale                            uint64 // adverts that came too late
	Switches                         uint64 // from indirect to direct
	Holds                            uint64 // waits for an advert
}

// Sender is the sending end of one direction. A Sender belongs to one goroutine at
// a time. The zero value needs Init.
type Sender struct {
	script script
	cfg    Config
	count  SenderCounters

	sends queue[send]
	fresh int // the first of sends that is not all messages yet

	adverts queue[offer]
	epoch   uint32 // of the newest advert
	direct  bool   // adverts of this epoch may be used
	used    uint32 // one more than the last advert used

	position uint64 // bytes sent
	indirect uint64 // of those, through the buffer
	window   uint64 // how many these may be
	starved  uint64 // the window that was too small last
	buffer   int    // the receiver's, as far as it has been asked for

	hopeful bool   // the receiver has been waiting lately
	partial bool   // an advert that wanted to be filled was not: another will come
	holding bool   // an Ask is out
	asks    uint32 // the last Ask's number

	shut, ended, dead bool
}

// NewSender returns a Sender; c must have the peer's buffer sizes. Error: ErrConfig.
func NewSender(c Config) (*Sender, error) {
	s := new(Sender)
	return s, s.Init(c)
}

// Init makes s a new Sender. It is NewSender for one that lies in other memory.
func (s *Sender) Init(c Config) error {
	c, err := c.Complete()
	if err != nil {
		return err
	}
	*s = Sender{cfg: c, window: uint64(c.window()), buffer: c.window()}
	return nil
}

// Next takes the oldest action that was not taken yet. Actions are to be carried
// out in order, after every other call.
func (s *Sender) Next(a *Action) bool { return s.script.next(a) }

// Counters returns what s has done so far.
func (s *Sender) Counters() SenderCounters { return s.count }

// Idle reports that nothing is queued and nothing has still to leave.
func (s *Sender) Idle() bool { return s.sends.len() == 0 }

// Send queues n bytes. Errors: ErrShut, ErrReset.
func (s *Sender) Send(id ID, n int) error {
	switch {
	case s.dead:
		return ErrReset
	case s.shut:
		return ErrShut
	}
	*s.sends.push() = send{id: id, n: n}
	s.transmit()
	return nil
}

// Sent says that a message of send id has left its memory.
func (s *Sender) Sent(id ID) {
	i := s.find(id)
	if i < 0 || s.sends.at(i).out == 0 {
		return
	}
	u := s.sends.at(i)
	u.out--
	if u.over != OK && u.out == 0 {
		s.drop(i)
	}
	s.release()
}

// Cancel takes back the bytes of a send that have not become messages. True means
// that there were some; the send finishes as Cancelled, with the number of those
// that had gone.
func (s *Sender) Cancel(id ID) bool {
	i := s.find(id)
	if i < s.fresh || s.sends.at(i).off == s.sends.at(i).n {
		return false
	}
	u := s.sends.at(i)
	u.n, u.over = u.off, Cancelled
	if u.out == 0 {
		s.drop(i)
	}
	s.transmit()
	return true
}

// Shutdown ends the stream behind what is queued. Again it does nothing.
func (s *Sender) Shutdown() {
	s.shut = true
	s.transmit()
}

// Reset aborts all sends. Those with messages out finish when these have left.
func (s *Sender) Reset() {
	s.dead, s.direct, s.holding = true, false, false
	s.adverts.clear()
	for i := 0; i < s.sends.len(); {
		u := s.sends.at(i)
		u.over = Aborted
		if u.out > 0 {
			i++
			continue
		}
		s.drop(i)
	}
	s.fresh = s.sends.len()
}

func (s *Sender) find(id ID) int {
	for i := range s.sends.len() {
		if s.sends.at(i).id == id {
			return i
		}
	}
	return -1
}

// drop finishes send i before its turn.
func (s *Sender) drop(i int) {
	u := *s.sends.at(i)
	s.sends.remove(i)
	if i < s.fresh {
		s.fresh--
	}
	s.script.finish(u.id, u.off, u.over)
}

// release finishes the oldest sends as far as nothing of them is left.
func (s *Sender) release() {
	for s.fresh > 0 && s.sends.front().out == 0 {
		u := s.sends.front()
		s.script.finish(u.id, u.off, u.over)
		s.sends.pop()
		s.fresh--
	}
}

// transmit makes messages of what is queued, as far as that goes now.
func (s *Sender) transmit() {
	for !s.dead && s.fresh < s.sends.len() {
		u := s.sends.at(s.fresh)
		if u.off == u.n {
			s.fresh++
		} else if !s.sendDirect(u) && !s.sendIndirect(u) {
			break
		}
	}
	s.release()
	if s.shut && !s.ended && !s.dead && s.fresh == s.sends.len() {
		s.ended, s.holding = true, false
		s.leaveDirect()
		s.script.tell(Message{Kind: Fin, Number: s.used, Position: s.position})
	}
}

// sendDirect uses the oldest advert.
func (s *Sender) sendDirect(u *send) bool {
	if s.adverts.len() == 0 || s.holding {
		return false
	}
	o := *s.adverts.front()
	n := min(u.n-u.off, o.n)
	short := o.whole && n < o.n
	if short && n < s.cfg.DirectMin && s.cfg.buffered() {
		return false
	}
	s.adverts.pop()
	s.used = o.number + 1
	if short { // what follows belongs behind these bytes, not into the next advert
		s.leaveDirect()
		s.partial = true
	}
	s.count.DirectBytes += uint64(n)
	s.count.DirectMessages++
	s.message(u, n, true, o.number)
	return true
}

// sendIndirect runs ahead of the receiver, unless waiting looks better.
func (s *Sender) sendIndirect(u *send) bool {
	rest := u.n - u.off
	if s.holding || !s.cfg.buffered() {
		return false
	}
	if s.pays(rest) {
		s.hold()
		return false
	}
	n := min(rest, s.cfg.Segment, int(s.window-s.indirect))
	if n == 0 {
		s.starve()
		return false
	}
	s.leaveDirect()
	s.indirect += uint64(n)
	s.count.IndirectBytes += uint64(n)
	s.count.IndirectMessages++
	s.message(u, n, false, s.used)
	return true
}

// pays reports whether an advert may be worth waiting for.
func (s *Sender) pays(rest int) bool {
	if s.adverts.len() > 0 { // there is one, which these bytes would not fill
		return false
	}
	return s.partial && rest >= s.cfg.DirectMin || s.hopeful && s.cfg.HoldMin > 0 && rest >= s.cfg.HoldMin
}

func (s *Sender) message(u *send, n int, direct bool, number uint32) {
	a := s.script.add(ToSend)
	a.Direct, a.Number, a.ID, a.Off, a.N = direct, number, u.id, u.off, n
	u.off += n
	u.out++
	s.position += uint64(n)
}

// starve asks for a larger buffer, once for each size that it may have.
func (s *Sender) starve() {
	if s.buffer < s.cfg.BufferMax && s.starved != s.window {
		s.starved = s.window
		s.buffer = min(2*s.buffer, s.cfg.BufferMax)
		s.script.tell(Message{Kind: Full})
	}
}

func (s *Sender) leaveDirect() {
	s.direct, s.partial = false, false
	s.adverts.clear()
}

func (s *Sender) hold() {
	s.holding = true
	s.asks++
	s.count.Holds++
	s.script.tell(Message{Kind: Ask, Number: s.asks})
}
