package exs

import "time"

// A peer that closes before it has read everything has often said why. Over TCP these bytes come first, then the reset. Here both
// may come in one pass of the endpoint, and the goroutine that writes could be the first to run: programs that
// then give the connection up, as net/http does, never see the answer. So the first Write that fails for such a peer ends when the
// program has read to the end, or has had time to.
const (
	readTime  = time.Millisecond
	readTimes = 50 // times that the program may take so long
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

// stopsReading reports whether the peer takes nothing any more, and a Read waits or has got something.
func (s *Socket) stopsReading(waits bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.stream.receiver.Counters()
	return s.stops && (waits || got.DirectBytes+got.IndirectBytes > 0)
}
