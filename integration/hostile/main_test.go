//go:build linux

package hostile_test

import (
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/mx"
)

const filter = 0x40571e

// promise is how long requests of a dead peer may stay pending: a second by the
// contract, with room for a loaded machine.
const promise = 5 * time.Second

func TestMain(m *testing.M) {
	proc.Main(m, map[string]proc.Role{"scribbler": scribbler, "echo": echo})
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

func open(t testing.TB) *mx.Endpoint {
	t.Helper()
	for _, info := range mx.Transports() {
		if info.Name == "shm" && !info.Available {
			t.Skip("no shared memory on this machine: ", info.Reason)
		}
	}
	_ = mx.Init() // once per process
	ep := must[*mx.Endpoint](t)(mx.OpenEndpoint(0, mx.AnyEndpoint, filter))
	t.Cleanup(func() { _ = ep.Close() })
	return ep
}

func connect(t testing.TB, ep *mx.Endpoint, id uint32) mx.EndpointAddr {
	t.Helper()
	nic := must[uint64](t)(mx.BoardNumberToNICID(0))
	return must[mx.EndpointAddr](t)(ep.Connect(nic, id, filter, 20*time.Second))
}

// openChild opens an endpoint in a child, and connects it to its parent.
func openChild(c *proc.Child) (*mx.Endpoint, mx.EndpointAddr) {
	if err := mx.Init(); err != nil {
		c.Fail(err)
	}
	ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, filter)
	if err != nil {
		c.Fail(err)
	}
	nic, _ := mx.BoardNumberToNICID(0)
	to, err := ep.Connect(nic, c.Number(0), filter, 10*time.Second)
	if err != nil {
		c.Fail(err)
	}
	c.Say("ready %d", ep.ID())
	return ep, to
}

// echo sends back whatever comes.
func echo(c *proc.Child) {
	ep, to := openChild(c)
	buf := make([]byte, 1<<20)
	for {
		r, err := ep.Irecv(buf, 0, 0, nil)
		if err != nil {
			c.Fail(err)
		}
		st, _, _ := ep.Wait(r, mx.Infinite)
		if r, err = ep.Isend(buf[:st.XferLength], to, st.MatchInfo|1<<63, nil); err != nil {
			c.Fail(err)
		}
		_, _, _ = ep.Wait(r, mx.Infinite)
	}
}

// roundTrips exchanges messages with an echo.
func roundTrips(t testing.TB, ep *mx.Endpoint, to mx.EndpointAddr, match uint64) {
	t.Helper()
	for _, n := range []int{8, 3000, 100_000} {
		b, back := make([]byte, n), make([]byte, n)
		for i := range b {
			b[i] = byte(i) + byte(match)
		}
		r := must[mx.Request](t)(ep.Irecv(back, match|1<<63, mx.MatchMaskNone, nil))
		s := must[mx.Request](t)(ep.Isend(b, to, match, nil))
		for _, q := range []mx.Request{s, r} {
			if st, ok, err := ep.Wait(q, 20*time.Second); err != nil || !ok || st.Code != mx.StatusSuccess {
				t.Fatalf("%d bytes with a good peer: %v %v %v", n, st.Code, ok, err)
			}
		}
		if string(back) != string(b) {
			t.Fatalf("%d bytes with a good peer came back changed", n)
		}
	}
}

func counter(ep *mx.Endpoint, label string) uint64 {
	for _, c := range ep.Counters() {
		if c.Label == label {
			return c.Value
		}
	}
	return 0
}
