//go:build linux

// Package windows_test has processes read and write each other's windows.
package windows_test

import (
	"testing"
	"time"

	"gomx/integration/internal/devices"
	"gomx/integration/internal/proc"
	"gomx/integration/internal/traffic"
	"gomx/mx"
)

// filter is the one that all processes of these tests use.
const filter = 0x71d0

// patience bounds every wait.
const patience = 20 * time.Second

func TestMain(m *testing.M) {
	proc.Main(m, map[string]proc.Role{"hammer": hammerRole, "closer": closerRole, "idler": idlerRole, traffic.RoleName: traffic.Role})
}

// over runs a test over each medium that joins processes of this machine.
func over(t *testing.T, f func(t *testing.T, medium string)) {
	_ = mx.Init() // by whichever test comes first
	for _, medium := range []string{"shm", "tcp", "rdma"} {
		t.Run(medium, func(t *testing.T) {
			for _, info := range mx.Transports() {
				if info.Name == medium && !info.Available {
					t.Skipf("no %s on this machine: %s", medium, info.Reason)
				}
			}
			t.Parallel()
			f(t, medium)
		})
	}
}

func open(t testing.TB, medium string) *mx.Endpoint {
	t.Helper()
	ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, filter, mx.WithTransports(medium))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ep.Close() })
	return ep
}

// start starts a child in a role, and connects with it.
func start(t testing.TB, ep *mx.Endpoint, medium, role string, args ...any) (*proc.Process, mx.EndpointAddr) {
	t.Helper()
	child := proc.Start(t, role, append([]any{medium, ep.ID()}, args...)...)
	id := child.HearNumber("at")
	nic, err := mx.BoardNumberToNICID(0)
	if err != nil {
		t.Fatal(err)
	}
	to, err := ep.Connect(nic, id, filter, patience)
	if err != nil {
		t.Fatal(err)
	}
	return child, to
}

// meet is the other side of start.
func meet(c *proc.Child) (*mx.Endpoint, mx.EndpointAddr) {
	if err := mx.Init(); err != nil {
		c.Fail(err)
	}
	ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, filter, mx.WithTransports(c.Args[0]))
	if err != nil {
		c.Fail(err)
	}
	nic, err := mx.BoardNumberToNICID(0)
	if err != nil {
		c.Fail(err)
	}
	to, err := ep.Connect(nic, c.Number(1), filter, patience)
	if err != nil {
		c.Fail(err)
	}
	c.Say("at %d", ep.ID())
	return ep, to
}

// The match information of messages that bring a handle.
const handles = 1

// tell sends the handle of a window to the peer.
func tell(ep *mx.Endpoint, to mx.EndpointAddr, h mx.WindowHandle) error {
	b, err := h.MarshalBinary()
	if err != nil {
		return err
	}
	r, err := ep.Isend(b, to, handles, nil)
	if err != nil {
		return err
	}
	return ep.Finish(r, patience)
}

// hear receives the handle of a window.
func hear(ep *mx.Endpoint) (h mx.WindowHandle, err error) {
	b := make([]byte, mx.WindowHandleSize)
	r, err := ep.Irecv(b, handles, mx.MatchMaskNone, nil)
	if err != nil {
		return h, err
	}
	if err := ep.Finish(r, patience); err != nil {
		return h, err
	}
	return h, h.UnmarshalBinary(b)
}

// rounds returns a count, or less of it for a short run.
func rounds(n int) int {
	if testing.Short() || devices.InMachine() {
		return n / 10
	}
	return n
}
