package exs

// mostAtOnce is the longest operation that a Conn makes, in bytes.
const mostAtOnce = 1 << 30

// beginRead starts a receive of a stream; the caller waits for its end.
func (s *Socket) beginRead(b []byte) (*op, Errno) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.canReceive(); n != 0 {
		return nil, n
	}
	return s.launchRecv(EvtRecv, b, nil, nowhere, false, Block, nil, nil, Unregistered)
}

// canSend returns why nothing can be sent, or 0.
func (s *Socket) canSend() Errno {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.life.CanSend()
}

// beginWrite starts a send. gone says that all of it is on its way, provided that all earlier sends are.
func (s *Socket) beginWrite(b []byte) (o *op, gone bool, n Errno) {
	s.mu.Lock()
	if n = s.life.CanSend(); n == 0 {
		before := s.stream.left()
		o, n = s.launchSend(EvtSend, b, nil, nowhere, false, Block, nil, nil, Unregistered)
		gone = n == 0 && s.stream.left() == before+uint64(len(b))
	}
	s.mu.Unlock()
	return o, gone, n
}

// left is how many bytes have become messages.
func (b *bytesOf) left() uint64 {
	c := b.sender.Counters()
	return c.DirectBytes + c.IndirectBytes
}
