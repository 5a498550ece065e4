package exs

import "gomx/exs/internal/life"

// A peer that ends without a Close may have sent data before. As over TCP, this data is received first, and then the connection is
// reset. No data can be sent any more. Receives get what has arrived, up to the first byte or packet that was still with the peer.

// lose ends a connection whose peer is gone. The lock is held.
func (s *Socket) lose(n Errno) {
	switch {
	case s.fate != 0:
		return
	case s.life.State() != life.Connected || s.life.AtEnd(): // the program does not read any more
		s.tear(n)
		return
	}
	s.fate = n
	s.life.Lose()
	s.endFiles(n)
	if s.stream != nil {
		s.loseStream()
	} else {
		s.losePackets()
	}
	s.list.wake()
}

func (s *Socket) loseStream() {
	s.stream.sender.Reset()
	s.stream.receiver.Lose()
	s.drainSender()
	s.drainReceiver()
}

func (s *Socket) losePackets() {
	p := &s.packets
	for p.waiting.len() > 0 {
		s.finish(p.waiting.pop(), s.fate)
	}
	s.cutHeld()
	s.endReceives(func(*op) bool { return true })
	s.endPersistence(s.fate)
}

// cutHeld drops the first packet whose bytes were still with the peer, and those behind it.
func (s *Socket) cutHeld() {
	p := &s.packets
	for i, h := range p.held {
		if h.data == nil && !s.stored(p.next+uint32(i)) {
			clear(p.held[i:])
			p.held, p.total = p.held[:i], -1
			return
		}
	}
}

// stored reports whether a packet lies in the endpoint's store.
func (s *Socket) stored(number uint32) bool {
	const mask = forSocket | seqMask<<seqShift
	_, found, _ := s.l.ep.Load().Iprobe(kindPacket<<kindShift|toward(s.conn, s.tag)|uint64(number&seqMask)<<seqShift, mask)
	return found
}

// canReceive returns why nothing can be received, or 0.
func (s *Socket) canReceive() Errno {
	if n := s.life.May(life.Recv); n != 0 || s.life.State() != life.Lost {
		return n
	}
	p := &s.packets
	switch {
	case s.stream != nil && !s.stream.receiver.Exhausted(), s.stream == nil && (p.total >= 0 || len(p.held)+p.posted.len() > 0):
		return 0
	}
	return s.fate
}

// dry reports whether no packet will arrive for another receive.
func (s *Socket) dry() bool {
	p := &s.packets
	return p.total >= 0 && int32(p.next-uint32(p.total)) >= 0 || s.fate != 0 && len(p.held) == 0
}

// endOfPackets returns how receives end for which no packet arrives: without an error if they are behind the last packet that the
// peer has announced.
func (s *Socket) endOfPackets() Errno {
	if s.packets.total >= 0 && !s.torn {
		return 0
	}
	return s.fate
}
