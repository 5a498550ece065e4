package pingpong

import "gomx/mx"

// What is timed unless the plan asks for something special: the calls that any
// program would make, and nothing else.

// ping makes round trips as the leader, pong as the follower.
func (s *side) ping(length, count int) error {
	ep, peer, buf := s.ep, s.peer, s.buf[:length]
	for range count {
		r, err := ep.Isend(buf, peer, matchOut, nil)
		if err != nil {
			return err
		}
		if err := s.wait(r); err != nil {
			return err
		}
		if r, err = ep.Irecv(buf, matchBack, mx.MatchMaskNone, nil); err != nil {
			return err
		}
		if err := s.wait(r); err != nil {
			return err
		}
	}
	return nil
}

func (s *side) pong(length, count int) error {
	ep, peer, buf := s.ep, s.peer, s.buf[:length]
	for range count {
		r, err := ep.Irecv(buf, matchOut, mx.MatchMaskNone, nil)
		if err != nil {
			return err
		}
		if err := s.wait(r); err != nil {
			return err
		}
		if r, err = ep.Isend(buf, peer, matchBack, nil); err != nil {
			return err
		}
		if err := s.wait(r); err != nil {
			return err
		}
	}
	return nil
}

// stream sends windows of messages as the leader, and drain receives them as the
// follower, all into the same buffer.
func (s *side) stream(length, count int) error {
	ep, peer, buf, reqs := s.ep, s.peer, s.buf[:length], s.reqs
	for range count {
		for i := range reqs {
			r, err := ep.Isend(buf, peer, matchOut, nil)
			if err != nil {
				return err
			}
			reqs[i] = r
		}
		for _, r := range reqs {
			if err := s.wait(r); err != nil {
				return err
			}
		}
		if err := s.recv(0, matchBack); err != nil {
			return err
		}
	}
	return nil
}

func (s *side) drain(length, count int) error {
	ep, buf, reqs := s.ep, s.buf[:length], s.reqs
	for range count {
		for i := range reqs {
			r, err := ep.Irecv(buf, matchOut, mx.MatchMaskNone, nil)
			if err != nil {
				return err
			}
			reqs[i] = r
		}
		for _, r := range reqs {
			if err := s.wait(r); err != nil {
				return err
			}
		}
		if err := s.send(0, matchBack); err != nil {
			return err
		}
	}
	return nil
}
