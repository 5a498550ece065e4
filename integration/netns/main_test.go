//go:build linux

package netns_test

import (
	"testing"

	"gomx/integration/internal/netns"
	"gomx/integration/internal/proc"
	"gomx/integration/internal/traffic"
)

func TestMain(m *testing.M) {
	proc.Main(m, map[string]proc.Role{traffic.RoleName: traffic.Role, proc.ProgramRole: proc.RunProgram, "proxy": proxied, "fake": fake, "listens": listens, "dials": dials})
}

// on returns the options of a process on a host.
func on(h *netns.Host, env ...string) proc.Options {
	return proc.Options{Under: h.Under(), Env: env}
}

// startOn starts a peer on a host, with an endpoint of the given number.
func startOn(t testing.TB, h *netns.Host, id int, env ...string) *traffic.Peer {
	t.Helper()
	p := traffic.Start(t, on(h, env...))
	p.Open(id)
	return p
}

// scale returns a count, or less of it for a short run.
func scale(count int) int {
	if testing.Short() {
		return count / 10
	}
	return count
}

// impatient has hosts that are gone noticed as soon as may be, after 3 seconds,
// and requests end a second later.
var impatient = []string{"MX_KEEPALIVE=3s", "MX_REQUEST_TIMEOUT=1s"}
