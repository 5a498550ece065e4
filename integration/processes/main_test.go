//go:build linux

package processes_test

import (
	"cmp"
	"errors"
	"os"
	"testing"
	"time"

	"gomx/integration/internal/devices"
	"gomx/integration/internal/proc"
	"gomx/mx"
)

// filter is the one that all processes of these tests use.
const filter = 0x7e57

// promise is how long requests of a dead peer may stay pending by the contract
// of the library, a second, with room for a loaded machine.
const promise = 5 * time.Second

// transportKey names the variable that says what the processes meet over. They
// inherit it.
const transportKey = "MX_TRANSPORT"

// medium is what they meet over, shared memory unless told otherwise.
func medium() string { return cmp.Or(os.Getenv(transportKey), "shm") }

func TestMain(m *testing.M) {
	if devices.InMachine() && os.Getenv(transportKey) == "" {
		os.Setenv(transportKey, "rdma") // what that machine is for
	}
	proc.Main(m, map[string]proc.Role{
		"echo":             echo,
		"victim":           victim,
		"compute":          compute,
		"hop":              hop,
		"nap":              nap,
		"idle":             idlePeer,
		"exhausted":        exhausted,
		"limited":          limited,
		"couple":           couple,
		"opens":            opens,
		"returns":          returns,
		"full":             full,
		"joins":            joins,
		"lonely":           lonely,
		"without listener": withoutListener,
		"floods":           floods,
		"leaves":           leaves,
		"collects":         collects,
		"takes much":       takesMuch,
		"partner":          partners,
		proc.ProgramRole:   proc.RunProgram,
	})
}

func skipWithoutMedium(t testing.TB) {
	t.Helper()
	for _, info := range mx.Transports() {
		if info.Name == medium() && !info.Available {
			t.Skipf("no %s on this machine: %s", info.Name, info.Reason)
		}
	}
}

// aboutShm skips a test of what only shared memory has when it runs over something else.
func aboutShm(t testing.TB) {
	t.Helper()
	if medium() != "shm" {
		t.Skipf("this is about shared memory, and %s is %s", transportKey, medium())
	}
}

// initialize calls Init, which the tests of one process share.
func initialize(t testing.TB) {
	t.Helper()
	skipWithoutMedium(t)
	if err := mx.Init(); err != nil && !errors.Is(err, mx.ErrAlreadyInitialized) {
		t.Fatal(err)
	}
}

func open(t testing.TB, params ...mx.Param) *mx.Endpoint {
	t.Helper()
	initialize(t)
	ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, filter, params...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ep.Close() })
	return ep
}

// openChild opens an endpoint in a child, and connects it to its parent.
func openChild(c *proc.Child, id, parent uint32, params ...mx.Param) (*mx.Endpoint, mx.EndpointAddr) {
	if err := mx.Init(); err != nil {
		c.Fail(err)
	}
	ep, err := mx.OpenEndpoint(0, id, filter, params...)
	if err != nil {
		c.Fail(err)
	}
	nic, err := mx.BoardNumberToNICID(0)
	if err != nil {
		c.Fail(err)
	}
	to, err := ep.Connect(nic, parent, filter, 10*time.Second)
	if err != nil {
		c.Fail(err)
	}
	return ep, to
}

func board(t testing.TB) uint64 {
	t.Helper()
	nic, err := mx.BoardNumberToNICID(0)
	if err != nil {
		t.Fatal(err)
	}
	return nic
}

func connect(t testing.TB, ep *mx.Endpoint, id uint32) mx.EndpointAddr {
	t.Helper()
	to, err := ep.Connect(board(t), id, filter, 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// finish waits for a request, within a bound.
func finish(t testing.TB, ep *mx.Endpoint, r mx.Request) mx.Status {
	t.Helper()
	st, done, err := ep.Wait(r, 20*time.Second)
	if err != nil || !done {
		t.Fatalf("request did not complete: done %v, error %v", done, err)
	}
	return st
}

// done waits for a request in a child.
func done(c *proc.Child, ep *mx.Endpoint, r mx.Request, err error) mx.Status {
	if err != nil {
		c.Fail(err)
	}
	st, _, err := ep.Wait(r, mx.Infinite)
	if err != nil {
		c.Fail(err)
	}
	return st
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// echo sends back whatever comes with match information below 1<<32.
func echo(c *proc.Child) {
	ep, to := openChild(c, mx.AnyEndpoint, c.Number(0))
	c.Say("ready %d", ep.ID())
	buf := make([]byte, 8<<20)
	for {
		r, err := ep.Irecv(buf, 0, 0, nil)
		st := done(c, ep, r, err)
		if st.Code != mx.StatusSuccess {
			c.Say("received with %v", st.Code)
			os.Exit(1)
		}
		r, err = ep.Isend(buf[:st.XferLength], to, st.MatchInfo|1<<32, nil)
		if st := done(c, ep, r, err); st.Code != mx.StatusSuccess {
			c.Say("sent with %v", st.Code)
			os.Exit(1)
		}
	}
}

// roundTrip sends b to an echo and compares what comes back.
func roundTrip(t testing.TB, ep *mx.Endpoint, to mx.EndpointAddr, match uint64, b, back []byte) {
	t.Helper()
	r := must[mx.Request](t)(ep.Irecv(back, match|1<<32, mx.MatchMaskNone, nil))
	s := must[mx.Request](t)(ep.Isend(b, to, match, nil))
	if st := finish(t, ep, s); st.Code != mx.StatusSuccess {
		t.Fatalf("send of %d bytes: %v", len(b), st.Code)
	}
	st := finish(t, ep, r)
	if st.Code != mx.StatusSuccess || int(st.XferLength) != len(b) || string(back[:len(b)]) != string(b) {
		t.Fatalf("%d bytes came back as %d, %v", len(b), st.XferLength, st.Code)
	}
}
