package mx

import (
	"fmt"
	"testing"
)

// TestOverviewKeepsWhatWaitsForAPeer behind older receives.
func TestOverviewKeepsWhatWaitsForAPeer(t *testing.T) {
	s := EndpointSnapshot{}
	for i := range 2 * overviewPending {
		s.Pending = append(s.Pending, PendingEntry{Kind: "recv", Age: 100, Peer: fmt.Sprint(i)})
	}
	s.Pending = append(s.Pending, PendingEntry{Kind: "get", Age: 1}, PendingEntry{Kind: "ssend", Age: 2})
	s.shorten()
	if len(s.Pending) != overviewPending || s.Pending[0].Kind != "ssend" || s.Pending[1].Kind != "get" {
		t.Errorf("%+v", s.Pending[:2])
	}
}
