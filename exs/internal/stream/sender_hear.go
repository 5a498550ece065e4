package stream

// Message takes a control message of the peer's Receiver. Error: an ErrProtocol.
func (s *Sender) Message(m *Message) error {
	if s.dead {
		return nil
	}
	var err error
	switch m.Kind {
	case Advert:
		err = s.advert(m)
	case Ack:
		err = s.widen(m.Window)
	case Withdraw:
		s.withdraw(m)
	case Answer:
		err = s.answer(m)
	default:
		err = errEnd
	}
	if err == nil {
		s.transmit()
	}
	return err
}

// advert takes a description of memory that waits. The first of an epoch counts
// only if the receiver, when it wrote it, had got all that was sent until now: then
// nothing is on the way that belongs before what is put into that memory. An epoch
// that came too late stays so.
func (s *Sender) advert(m *Message) error {
	if m.Len == 0 || m.Len > largest || m.Position > s.position || before(m.Number, s.used) ||
		s.adverts.len() > 0 && !before(s.adverts.back().number, m.Number) {
		return errAdvert
	}
	if s.adverts.len() >= s.cfg.Credits {
		return errCredits
	}
	s.hopeful = true
	if m.Epoch != s.epoch {
		if s.direct || before(m.Epoch, s.epoch) {
			return errAdvert
		}
		s.epoch = m.Epoch
		if s.direct = m.Position == s.position && !s.ended; s.direct {
			s.count.Switches++
		}
	}
	if s.direct {
		*s.adverts.push() = offer{number: m.Number, n: int(m.Len), whole: m.Whole}
		s.holding, s.partial = false, false
	} else {
		s.count.Stale++
	}
	return s.widen(m.Window)
}

func (s *Sender) widen(window uint64) error {
	if window < s.window || window-s.indirect > largest || window > 0 && !s.cfg.buffered() {
		return errWindow
	}
	s.window = window
	return nil
}

// withdraw gives adverts back. Where the epoch is over here, what ended it tells the
// receiver.
func (s *Sender) withdraw(m *Message) {
	if !s.direct || m.Epoch != s.epoch {
		return
	}
	for s.adverts.len() > 0 && !before(s.adverts.back().number, m.Number) {
		s.adverts.popBack()
	}
	s.script.tell(Message{Kind: Withdrawn, Epoch: s.epoch, Number: s.used})
}

func (s *Sender) answer(m *Message) error {
	if s.holding && m.Number == s.asks {
		s.holding, s.partial, s.hopeful = false, false, false
	}
	return s.widen(m.Window)
}
