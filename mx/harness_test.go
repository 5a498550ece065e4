package mx_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gomx/mx"
)

// bound ends every wait of the tests, so that none can hang.
const bound = 10 * time.Second

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "12") // unless the command line says otherwise: tests that run beside others wait most of the time
	os.Exit(m.Run())
}

// testFilter is the filter of all endpoints that don't ask for another.
const testFilter = 0xcafe

// everything is the mask of a receive that takes any message.
const everything uint64 = 0

// exact is the mask of a receive that takes one value.
const exact = mx.MatchMaskNone

// noContext is for calls that only their timeout ends.
var noContext context.Context

// media are the transports that each promise is checked over.
var media = []string{"mem", "shm", "rdma", "tcp"}

// world is one test over one transport.
type world struct {
	testing.TB
	medium string
}

// over runs a test over each transport that works here.
func over(t *testing.T, f func(w *world)) {
	t.Helper()
	for _, medium := range media {
		t.Run(medium, func(t *testing.T) {
			f(newWorld(t, medium))
		})
	}
}

// newWorld initializes the library for one test.
func newWorld(t testing.TB, medium string) *world {
	t.Helper()
	initialize(t)
	skipWithout(t, medium)
	return &world{t, medium}
}

func skipWithout(t testing.TB, medium string) {
	t.Helper()
	for _, info := range mx.Transports() {
		if info.Name == medium && !info.Available {
			t.Skipf("transport %s: %s", medium, info.Reason)
		}
	}
}

// initialized counts the tests that run with the library: those that wait run beside each other.
var initialized struct {
	sync.Mutex
	tests int
}

// initialize calls Init, and Finalize at the end of the test, or of the last one of those that run beside it.
func initialize(t testing.TB) {
	t.Helper()
	initialized.Lock()
	defer initialized.Unlock()
	if initialized.tests == 0 {
		if err := mx.Init(); err != nil {
			t.Fatal(err)
		}
	}
	initialized.tests++
	t.Cleanup(func() {
		initialized.Lock()
		defer initialized.Unlock()
		if initialized.tests--; initialized.tests > 0 {
			return
		}
		if err := mx.Finalize(); err != nil {
			t.Error(err)
		}
	})
}

// open opens an endpoint that is closed with the test.
func (w *world) open(params ...mx.Param) *mx.Endpoint {
	w.Helper()
	for tries := 0; ; tries++ {
		ep, err := w.tryOpen(uncommon(), params...)
		if err == nil {
			return ep
		}
		if tries == 100 || !errors.Is(err, mx.ErrBusy) {
			w.Fatal(err)
		}
	}
}

// uncommon returns an endpoint id that, with some that follow it, other programs hardly take while a test uses it, closes it and opens it again:
// what opens AnyEndpoint gets a low one. Tests of this process get one that was not used for long.
func uncommon() uint32 {
	return 1024 + (firstUncommon+uncommons.Add(4))%(3000-mx.MaxContexts)/4*4
}

var (
	firstUncommon = rand.Uint32N(3000) // differs between processes
	uncommons     atomic.Uint32
)

func (w *world) tryOpen(id uint32, params ...mx.Param) (*mx.Endpoint, error) {
	params = append([]mx.Param{mx.WithTransports(w.medium)}, params...)
	ep, err := mx.OpenEndpoint(0, id, testFilter, params...)
	if err == nil {
		w.Cleanup(func() { shut(w, ep) })
	}
	return ep, err
}

// shut closes an endpoint, if the test has not done so itself.
func shut(t testing.TB, ep *mx.Endpoint) {
	if err := ep.Close(); err != nil && !errors.Is(err, mx.ErrBadEndpoint) {
		t.Error(err)
	}
}

// pair opens two endpoints and connects them both ways.
func (w *world) pair(params ...mx.Param) (a, b *mx.Endpoint, toB, toA mx.EndpointAddr) {
	w.Helper()
	a, b = w.open(params...), w.open(params...)
	return a, b, w.connect(a, b), w.connect(b, a)
}

// connect connects one endpoint to another.
func (w *world) connect(from, to *mx.Endpoint) mx.EndpointAddr {
	w.Helper()
	nic, id := place(w, to)
	if from.Contexts() > 1 || to.Contexts() > 1 { // Connect connects them all
		addr, err := from.Connect(nic, id, testFilter, bound)
		if err != nil {
			w.Fatal(err)
		}
		return addr
	}
	r, err := from.Iconnect(nic, id, testFilter, 0, nil)
	if err != nil {
		w.Fatal(err)
	}
	for end := time.Now().Add(bound); ; {
		switch st, done, err := from.Test(r); {
		case err != nil || done && st.Code != mx.StatusSuccess || time.Now().After(end):
			w.Fatal(st.Code, err)
		case done:
			return st.Source
		}
		if err := to.Progress(); err != nil { // its own goroutine would begin some milliseconds later
			w.Fatal(err)
		}
	}
}

// place returns where an endpoint can be reached.
func place(t testing.TB, ep *mx.Endpoint) (nic uint64, id uint32) {
	t.Helper()
	nic, id, err := mx.DecomposeEndpointAddr(ep.Addr())
	if err != nil {
		t.Fatal(err)
	}
	return nic, id
}

func (w *world) isend(ep *mx.Endpoint, buf []byte, to mx.EndpointAddr, match uint64) mx.Request {
	w.Helper()
	r, err := ep.Isend(buf, to, match, nil)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

func (w *world) issend(ep *mx.Endpoint, buf []byte, to mx.EndpointAddr, match uint64) mx.Request {
	w.Helper()
	r, err := ep.Issend(buf, to, match, nil)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

func (w *world) irecv(ep *mx.Endpoint, buf []byte, match, mask uint64) mx.Request {
	w.Helper()
	r, err := ep.Irecv(buf, match, mask, nil)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// done waits for a request.
func (w *world) done(ep *mx.Endpoint, r mx.Request) mx.Status {
	w.Helper()
	st, ok, err := ep.Wait(r, bound)
	if err != nil {
		w.Fatal(err)
	}
	if !ok {
		w.Fatalf("%v: the request is not complete after %v", ep, bound)
	}
	return st
}

// succeed waits for a request that must end well.
func (w *world) succeed(ep *mx.Endpoint, r mx.Request) mx.Status {
	w.Helper()
	st := w.done(ep, r)
	if st.Code != mx.StatusSuccess {
		w.Fatalf("%v: %v", ep, st.Err())
	}
	return st
}

// arrived waits until a message that fits is in the unexpected store.
func (w *world) arrived(ep *mx.Endpoint, match, mask uint64) mx.Status {
	w.Helper()
	st, found, err := ep.Probe(bound, match, mask)
	if err != nil || !found {
		w.Fatalf("%v: no message that fits %#x/%#x: %v", ep, match, mask, err)
	}
	return st
}

// send sends a message and waits until it has arrived unexpectedly.
func (w *world) sendUnexpected(from, to *mx.Endpoint, buf []byte, addr mx.EndpointAddr, match uint64) mx.Request {
	w.Helper()
	r := w.isend(from, buf, addr, match)
	w.arrived(to, match, exact)
	return r
}

// pending fails if the request is complete after several passes.
func (w *world) pending(ep *mx.Endpoint, r mx.Request) {
	w.Helper()
	for range 20 {
		st, ok, err := ep.Test(r)
		if err != nil {
			w.Fatal(err)
		}
		if ok {
			w.Fatalf("%v: complete too early: %+v", ep, st)
		}
	}
}

// until makes passes over the endpoints until the condition holds.
func (w *world) until(what string, holds func() bool, eps ...*mx.Endpoint) {
	w.Helper()
	for deadline := time.Now().Add(bound); !holds(); runtime.Gosched() {
		if time.Now().After(deadline) {
			w.Fatalf("not within %v: %s", bound, what)
		}
		for _, ep := range eps {
			if err := ep.Progress(); err != nil {
				w.Fatal(err)
			}
		}
	}
}

// within runs f in a goroutine and fails if it takes too long. f must not call
// Fatal.
func within(t testing.TB, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	receive(t, what, done)
}

// receive takes a value from a channel, in bounded time.
func receive[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(bound):
		t.Fatalf("not within %v: %s", bound, what)
		panic("unreachable")
	}
}

// refused checks an error's code, and that its text names the parts.
func refused(t testing.TB, err error, code mx.ReturnCode, parts ...string) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Errorf("error %v, want %v", err, code)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not name %q", err, part)
		}
	}
}

// pattern makes n bytes that differ from place to place and from seed to seed.
func pattern(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i) ^ byte(i>>8)*31 ^ seed
	}
	return b
}

// counter returns one of an endpoint's counters.
func counter(t testing.TB, ep *mx.Endpoint, label string) uint64 {
	t.Helper()
	for _, c := range ep.Counters() {
		if c.Label == label {
			return c.Value
		}
	}
	t.Fatalf("no counter %q", label)
	return 0
}

// sizes are message lengths at and around the borders between ways to travel.
var sizes = []int{0, 1, 39, 40, 41, 64, 1023, 1024, 4096, 8191, 8192, 8193, 40000, 200_000}

// same fails the test unless the bytes are those that were sent.
func (w *world) same(got, want []byte) {
	w.Helper()
	if !bytes.Equal(got, want) {
		w.Fatalf("other bytes than were sent, of %d", len(want))
	}
}

// blockedIn is on the stack of every goroutine that blocks on an endpoint.
const blockedIn = "driver.(*Endpoint).waitOn("

// waitBlocked waits until n goroutines block on endpoints.
func waitBlocked(t testing.TB, n int) {
	t.Helper()
	stacks := make([]byte, 1<<20)
	for deadline := time.Now().Add(bound); ; runtime.Gosched() {
		got := strings.Count(string(stacks[:runtime.Stack(stacks, true)]), blockedIn)
		if got >= n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are in %s...), want %d", got, blockedIn, n)
		}
	}
}
