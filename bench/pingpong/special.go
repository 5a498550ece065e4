package pingpong

import "gomx/mx"

// What is timed if the plan asks for synchronous sends, or for every message to be
// filled and checked. A round trip is a window of one message whose answer is as
// long as it is.

// out sends a window of messages to the peer, in receives one.
func (s *side) out(length int, match uint64, reqs []mx.Request) (err error) {
	if s.plan.Verify {
		s.write(length, match)
	}
	for i := range reqs {
		if reqs[i], err = s.isend(length, match); err != nil {
			return err
		}
	}
	return s.waitAll(reqs)
}

func (s *side) in(length int, match uint64, reqs []mx.Request) (err error) {
	for i := range reqs {
		if reqs[i], err = s.ep.Irecv(s.buf[:length], match, mx.MatchMaskNone, nil); err != nil {
			return err
		}
	}
	if err := s.waitAll(reqs); err != nil {
		return err
	}
	if s.plan.Verify {
		s.read(length, match)
	}
	return nil
}

func (s *side) waitAll(reqs []mx.Request) error {
	for _, r := range reqs {
		if err := s.wait(r); err != nil {
			return err
		}
	}
	return nil
}

// answerLength is how long the answer to messages of a length is.
func (s *side) answerLength(length int) int {
	if s.plan.Window > 0 {
		return 0
	}
	return length
}

// ask makes exchanges as the leader, and reply as the follower.
func (s *side) ask(length, count int) error {
	for range count {
		if err := s.out(length, matchOut, s.reqs); err != nil {
			return err
		}
		if err := s.in(s.answerLength(length), matchBack, s.reqs[:1]); err != nil {
			return err
		}
		s.exchanged++
	}
	return nil
}

func (s *side) reply(length, count int) error {
	for range count {
		if err := s.in(length, matchOut, s.reqs); err != nil {
			return err
		}
		if err := s.out(s.answerLength(length), matchBack, s.reqs[:1]); err != nil {
			return err
		}
		s.exchanged++
	}
	return nil
}
