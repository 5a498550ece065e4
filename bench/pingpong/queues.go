package pingpong

import (
	"time"

	"gomx/mx"
)

// postStrangers posts the receives that match nothing.
func (s *side) postStrangers() error {
	for i := range s.plan.Posted {
		r, err := s.ep.Irecv(s.parked[:], matchPosted+uint64(i), mx.MatchMaskNone, nil)
		if err != nil {
			return err
		}
		s.strangers = append(s.strangers, r)
	}
	return nil
}

// dropStrangers takes them back.
func (s *side) dropStrangers() error {
	for _, r := range s.strangers {
		if _, err := s.ep.Cancel(r); err != nil {
			return err
		}
	}
	s.strangers = s.strangers[:0]
	return nil
}

// sendParked sends the messages that nobody receives for now. They are never
// synchronous: those would not complete.
func (s *side) sendParked() error {
	for i := range s.plan.Unexpected {
		r, err := s.ep.Isend(s.parked[:], s.peer, matchParked+uint64(i), nil)
		if err != nil {
			return err
		}
		if err := s.wait(r); err != nil {
			return err
		}
	}
	return nil
}

// takeParked receives them newest first, and returns the mean time that each
// took, in microseconds.
func (s *side) takeParked() (float64, error) {
	if s.plan.Unexpected == 0 {
		return 0, nil
	}
	start := time.Now()
	for i := s.plan.Unexpected - 1; i >= 0; i-- {
		r, err := s.ep.Irecv(s.parked[:], matchParked+uint64(i), mx.MatchMaskNone, nil)
		if err != nil {
			return 0, err
		}
		if err := s.wait(r); err != nil {
			return 0, err
		}
	}
	return float64(time.Since(start)) / float64(s.plan.Unexpected) / 1e3, nil
}
