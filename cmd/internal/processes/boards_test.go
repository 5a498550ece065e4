package processes

import (
	"strings"
	"testing"

	"gomx/mx"
)

// TestOnBoard accepts a board that this host has, or that an endpoint says it is on.
func TestOnBoard(t *testing.T) {
	far := []*mx.LiveReading{{ProcessSnapshot: mx.ProcessSnapshot{Endpoints: []mx.EndpointSnapshot{{Board: 4000}}}}}
	for _, c := range []struct {
		asked    int64
		readings []*mx.LiveReading
		good     bool
	}{{-1, nil, true}, {0, nil, true}, {4000, nil, false}, {4000, far, true}, {4001, far, false}} {
		err := OnBoard(c.asked, c.readings)
		if (err == nil) != c.good || err != nil && !strings.Contains(err.Error(), ": this host has boards 0 to ") {
			t.Errorf("board %d with %d processes: %v", c.asked, len(c.readings), err)
		}
	}
}
