//go:build linux

package netns_test

import (
	"testing"

	"gomx/integration/internal/netns"
	"gomx/integration/internal/proc"
)

func runOn(t testing.TB, h *netns.Host, env []string, command ...string) proc.Program {
	t.Helper()
	return proc.StartProgram(t, on(h, env...), command...)
}
