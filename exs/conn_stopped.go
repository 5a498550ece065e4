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

// stopsReading reports whether the peer accepts no more data while a Read waits or has received something.
func (s *Socket) stopsReading(waits bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.stream.receiver.Counters()
	return s.stops && (waits || got.DirectBytes+got.IndirectBytes > 0)
}
