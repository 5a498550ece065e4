//go:build linux

package tcp_test

import (
	"testing"
	"time"

	"gomx/integration/internal/traffic"
	"gomx/internal/testlength"
)

// The request timeout counts from the request on, however long the endpoints were
// quiet before.
func TestQuietLongerThanTheRequestTimeout(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	const timeout = 500 * time.Millisecond
	a, b, toB, toA := pair(t, "MX_KEEPALIVE=3s", "MX_REQUEST_TIMEOUT="+timeout.String())
	for range 2 {
		time.Sleep(2 * timeout)
		exchange(t, a, b, toB, toA, 300, traffic.Mixed)
	}
}
