package driver_test

import (
	"context"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/transport"
	"gomx/transport/mem"
)

// world is a few endpoints on one network.
type world struct {
	t   testing.TB
	net *mem.Network
	eps []*driver.Endpoint
}

const board = 0x0200_7f00_0001

// option changes the configuration of one endpoint.
type option func(*driver.Config)

func singleThreaded(c *driver.Config) { c.SingleThreaded = true }

func spinning(d time.Duration) option { return func(c *driver.Config) { c.Spin = d } }

// asleep never spins: under synctest's clock a spinner would see no time pass.
func asleep(c *driver.Config) { c.Spin = -1 }

func newWorld(t testing.TB, o mem.Options) *world {
	return &world{t: t, net: mem.NewNetwork(o)}
}

func (w *world) open(options ...option) *driver.Endpoint {
	w.t.Helper()
	cfg := driver.Config{
		Transports: []transport.Transport{w.net},
		Bell:       mem.NewBell(),
		Engine: endpoint.Config{
			NIC: board, Endpoint: uint32(len(w.eps)), Session: uint32(1000 * (len(w.eps) + 1)),
			EagerLimit: -1, CopyLimit: -1,
		},
	}
	for _, o := range options {
		o(&cfg)
	}
	d, err := driver.Open(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.eps = append(w.eps, d)
	return d
}

func (w *world) close() {
	for _, d := range w.eps {
		_ = d.Close()
	}
}

// connect returns the address of w.eps[to] as from knows it.
func (w *world) connect(from *driver.Endpoint, to int) endpoint.Addr {
	w.t.Helper()
	h, err := from.Call(&endpoint.Calling{NIC: board, Endpoint: uint32(to)}, false)
	if err != nil {
		w.t.Fatal(err)
	}
	st := w.wait(from, h)
	if st.Code != endpoint.Success {
		w.t.Fatalf("connect: %v", st.Code)
	}
	return st.Source
}

// noContext is what calls without a context pass.
var noContext context.Context

// patience bounds every wait of these tests.
const patience = 8 * time.Second

func (w *world) wait(d *driver.Endpoint, h endpoint.Handle) endpoint.Status {
	w.t.Helper()
	var st endpoint.Status
	ok, err := d.Wait(noContext, h, patience, &st)
	if !ok || err != nil {
		w.t.Fatalf("wait: %v %v", ok, err)
	}
	return st
}

func (w *world) send(d *driver.Endpoint, to endpoint.Addr, match uint64, b []byte) endpoint.Handle {
	w.t.Helper()
	h, err := d.Send(&endpoint.Outgoing{First: b, To: to, Match: match}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

func (w *world) recv(d *driver.Endpoint, match uint64, b []byte) endpoint.Handle {
	w.t.Helper()
	h, err := d.Recv(&endpoint.Posting{First: b, Value: match, Mask: ^uint64(0)}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

// both runs a test under synctest's clock, sleeping, and in real time, spinning.
func both(t *testing.T, f func(t *testing.T, wait option)) {
	t.Run("asleep", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t, asleep) })
	})
	t.Run("spinning", func(t *testing.T) { f(t, spinning(0)) })
}

// under reports whether the option is the one of tests under synctest.
func under(wait option) bool {
	var c driver.Config
	wait(&c)
	return c.Spin < 0
}

// inBackground runs f and returns a function that waits for its end.
func inBackground(t testing.TB, f func()) (join func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	return func() {
		t.Helper()
		limit := time.NewTimer(patience)
		defer limit.Stop()
		select {
		case <-done:
		case <-limit.C:
			panic(t.Name() + ": a call that should have returned is still blocked")
		}
	}
}

// inACall reports whether the handler that calls it runs in a call of a test, and not in a goroutine of the endpoint. That begins to
// poll a few milliseconds after the last call, which is soon on a busy machine.
func inACall() bool {
	stack := string(debug.Stack())
	return strings.Contains(stack, "created by gomx/endpoint/driver_test.") || strings.Contains(stack, "created by testing.")
}
