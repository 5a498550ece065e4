//go:build linux

package rdma_test

import (
	"bytes"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"gomx/integration/internal/traffic"
	"gomx/mx"
)

// ends is two endpoints of this process, which meet over a device.
type ends struct {
	t        testing.TB
	from, to *mx.Endpoint
	addr     mx.EndpointAddr
}

func joined(t testing.TB) *ends {
	t.Helper()
	w := sameDevice(t)
	e := &ends{t: t}
	for _, ep := range []**mx.Endpoint{&e.from, &e.to} {
		var err error
		if *ep, err = mx.OpenEndpoint(0, mx.AnyEndpoint, traffic.Filter, mx.WithTransports("rdma")); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, ep := range []*mx.Endpoint{e.from, e.to} {
			if err := ep.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	var err error
	if e.addr, err = e.from.Connect(nicOf(w.left.host), e.to.ID(), traffic.Filter, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	return e
}

// move sends one buffer into another one, and compares every byte.
func (e *ends) move(from, to []byte, seed int) {
	e.t.Helper()
	for i := range from {
		from[i] = byte(i*(2*seed+1)) ^ byte(i>>8) ^ byte(seed)
		to[i] = ^from[i]
	}
	recv, err := e.to.Irecv(to, uint64(seed), mx.MatchMaskNone, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	send, err := e.from.Isend(from, e.addr, uint64(seed), nil)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, one := range []struct {
		ep *mx.Endpoint
		r  mx.Request
	}{{e.to, recv}, {e.from, send}} {
		st, done, err := one.ep.Wait(one.r, 30*time.Second)
		if err != nil || !done || st.Code != mx.StatusSuccess {
			e.t.Fatalf("message %d of %d bytes: %v, %v, %v", seed, len(from), st.Code, done, err)
		}
	}
	if !bytes.Equal(from, to) {
		e.t.Fatalf("message %d of %d bytes is damaged", seed, len(from))
	}
}

// lengths begin with messages that are copied into registered memory, and go on to
// those whose own memory is registered, each time, however quick that is here.
var lengths = []int{32<<10 - 1, 32 << 10, 32<<10 + 1, 64 << 10, 100_001, 256<<10 + 1, 1 << 20, 4 << 20}

// recycle has the run time give free memory back, so that the next buffer has other
// pages at an address that was used before.
func recycle() {
	runtime.GC()
	debug.FreeOSMemory()
}

// memories are kinds of memory, and how each is taken and given back.
var memories = map[string]func(ep *mx.Endpoint, n int) (b []byte, free func() error, err error){
	"heap": func(_ *mx.Endpoint, n int) ([]byte, func() error, error) {
		return make([]byte, n), func() error { return nil }, nil
	},
	"alloc": func(_ *mx.Endpoint, n int) ([]byte, func() error, error) {
		b, err := mx.Alloc(n)
		return b, func() error { return mx.Free(b) }, err
	},
	"registered": func(ep *mx.Endpoint, n int) ([]byte, func() error, error) {
		b := make([]byte, n)
		m, err := ep.Register(b)
		return b, func() error { return m.Deregister() }, err
	},
}

// Buffers are freed and collected between messages, their pages given back, and others
// take their addresses: no registration of an old buffer is ever used for a new one.
func TestRecycledMemory(t *testing.T) {
	e := joined(t)
	const rounds = 3
	seed := 0
	for _, n := range lengths {
		seen := map[string]bool{}
		again := 0
		for range rounds {
			for _, from := range slices.Sorted(maps.Keys(memories)) {
				for _, to := range slices.Sorted(maps.Keys(memories)) {
					seed++
					for _, address := range e.moveNew(n, from, to, seed) {
						if seen[address] {
							again++
						}
						seen[address] = true
					}
				}
				recycle()
			}
		}
		t.Logf("%d bytes: %d buffers had an address that was used before, %d had not", n, again, len(seen))
	}
	t.Log(diagnostics(e.from), diagnostics(e.to))
}

// moveNew sends a message there and back between two new buffers, frees them, and
// returns their addresses.
func (e *ends) moveNew(n int, from, to string, seed int) (addresses []string) {
	e.t.Helper()
	a, freeA, err := memories[from](e.from, n)
	if err != nil {
		e.t.Fatal(from, err)
	}
	b, freeB, err := memories[to](e.to, n)
	if err != nil {
		e.t.Fatal(to, err)
	}
	e.move(a, b, seed)
	shared := from == "alloc" || to == "alloc"
	if shared {
		e.move(b, a, seed)
	}
	for _, free := range []func() error{freeA, freeB} {
		if err := free(); err != nil {
			e.t.Fatal(err)
		}
	}
	if !shared {
		e.move(b, a, seed) // which may have been registered, and are not any more
	}
	return []string{fmt.Sprintf("%p", a), fmt.Sprintf("%p", b)}
}

func diagnostics(ep *mx.Endpoint) (all []string) {
	for _, f := range ep.Diagnostics() {
		all = append(all, f.Name+": "+f.Value)
	}
	return all
}
