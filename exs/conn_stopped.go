package exs

import "time"

// A peer that closes before it has read everything has often sent a reason first. Over TCP the reason arrives before the reset. Here
// both may arrive in one pass of the endpoint, and the goroutine that writes may run first. A program that then abandons
// the connection, as net/http does, would never read the reason. So the first Write that fails because of such a peer
// returns when the program has read to the end, or has had time to.
const (
	readTime  = time.Millisecond
	readTimes = 50 // how many times the program may take that long
)

// letRead waits until Read has returned the end of what the peer has sent.
func (c *Conn) letRead() {
	if c.refused || !c.s.stopsReading(c.in.waiting.Load() != nil) {
		return
	}
	c.refused = true
	for range readTimes {
		if c.ended.Load() || c.out.stopped() != nil {
			return
		}
		time.Sleep(readTime)
	}
}

// lastWord reports whether this is the first short write after the peer has closed in good order. Over TCP that one succeeds, since
// the peer's system has yet to answer that nobody is there, and protocols count on it that end with a word which nobody reads, such as the
// close_notify of TLS. Where a Read waits, as net/http has one on idle connections, it is about to say that this is the end, and an error
// tells the writer that what it sends may be sent again elsewhere.
func (c *Conn) lastWord() bool {
	if c.lastSaid || c.closedWrite || c.in.waiting.Load() != nil {
		return false
	}
	c.s.mu.Lock()
	c.lastSaid = c.s.partedWell() && !c.s.wrote
	c.s.mu.Unlock()
	return c.lastSaid
}

// stopsReading reports whether the peer accepts no more data while a Read waits or has received something.
func (s *Socket) stopsReading(waits bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.stream.receiver.Counters()
	return s.stops && (waits || got.DirectBytes+got.IndirectBytes > 0)
}
