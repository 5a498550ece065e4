//go:build linux

package tcp_test

import (
	"context"
	"errors"
	"testing"

	"gomx/transport/tcp"
)

// Dials wait for their turn, as long as their context lasts, and one that the peer keeps waiting gives its turn on.
func TestDialsTakeTurns(t *testing.T) {
	var all []func()
	defer func() {
		for _, giveBack := range all {
			giveBack()
		}
	}()
	for range tcp.Turns {
		giveBack, err := tcp.TakeTurn(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, giveBack)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := tcp.TakeTurn(ended, true); !errors.Is(err, context.Canceled) {
		t.Errorf("of a dial that has ended: %v", err)
	}
	for range 2 * tcp.Turns {
		giveBack, err := tcp.TakeTurn(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, giveBack)
	}
}
