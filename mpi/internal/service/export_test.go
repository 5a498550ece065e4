package service

import "testing"

// Count returns a counter of the service's endpoint.
func (s *Service) Count(label string) (value uint64) {
	for _, c := range s.ep.Counters() {
		if c.Label == label {
			value = c.Value
		}
	}
	return value
}

// Mute has the service's endpoint take nothing in until the end of the test.
func (s *Service) Mute(t testing.TB) {
	if err := s.ep.DisableProgression(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.ep.ReenableProgression() })
}
