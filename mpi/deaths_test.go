package mpi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gomx/mx"
)

// TestDeathsAreToldBriefly: what is said of a rank that is gone fits on a line, however many addresses were tried in vain, and
// begins with the rank.
func TestDeathsAreToldBriefly(t *testing.T) {
	chain := errors.New("mx: connect")
	for i := range 30 {
		chain = fmt.Errorf("%w: dial tcp 10.0.0.%d:30000: connection refused", chain, i)
	}
	const says = "rank 3 of the world "
	for _, err := range []error{&death{rank: 3, cause: chain}, &unconnected{3, chain}} {
		text := err.Error()
		if len(text) > 300 || !strings.HasPrefix(text, says) || !errors.Is(err, chain) {
			t.Errorf("%d bytes: %s", len(text), text)
		}
	}
	for _, c := range []struct {
		cause error
		want  string
	}{
		{mx.StatusEndpointUnreachable, says + "is gone: it has ended before its time, or its host is cut off"},
		{fmt.Errorf("connecting: %w", mx.StatusEndpointClosed), says + "is gone: it has ended before its time, or its host is cut off"},
		{mx.StatusEndpointClosed, says + "is gone: it has called Finalize"},
		{mx.StatusTimeout, says + "is gone: it does not answer"},
		{context.DeadlineExceeded, says + "is gone: it does not answer"},
	} {
		if got := (&death{rank: 3, cause: c.cause}).Error(); got != c.want {
			t.Errorf("%v: %q, want %q", c.cause, got, c.want)
		}
	}
}
