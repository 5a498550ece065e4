package mx_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mx"
)

// several opens an endpoint with contexts of these names, and returns them.
func (w *world) several(names []string, params ...mx.Param) []*mx.Endpoint {
	w.Helper()
	first := w.open(append(params, mx.WithContexts(len(names), names...))...)
	var all []*mx.Endpoint
	for i := range names {
		ep, err := first.ContextAt(i)
		if err != nil || ep.ContextIndex() != i || ep.ContextName() != names[i] || ep.Contexts() != len(names) || ep.ID() != first.ID() {
			w.Fatalf("context %d is %v, named %q, %v", i, ep, ep.ContextName(), err)
		}
		all = append(all, ep)
	}
	if all[0] != first {
		w.Fatal("OpenEndpoint does not return the first context")
	}
	return all
}

// at returns the address of a context.
func (w *world) at(a mx.EndpointAddr, index int, own *mx.Endpoint) mx.EndpointAddr {
	w.Helper()
	to, err := a.ContextAt(index)
	if err == nil {
		to, err = to.From(own)
	}
	if err != nil || to.ContextIndex() != index {
		w.Fatalf("context %d of %v for %v: %v, %v", index, a, own, to, err)
	}
	return to
}

// One connect joins every context of the one side with every one of the other, and each pair has messages of its own.
func TestContextsOfBothSides(t *testing.T) {
	testlength.Long(t)
	over(t, func(w *world) {
		a, b := w.several([]string{"", ""}), w.several([]string{"control", "", "data"})
		toB := w.connect(a[0], b[0])
		if toB.Contexts() != 3 || toB.ContextIndex() != 0 || toB.ContextName() != "control" {
			t.Errorf("connected with context %d of %d, %q", toB.ContextIndex(), toB.Contexts(), toB.ContextName())
		}
		if nic, id, err := mx.DecomposeEndpointAddr(w.at(toB, 2, a[1])); err != nil || id != b[0].ID() {
			t.Errorf("the address of a context is %d of %x, %v", id, nic, err)
		}
		for i, own := range a {
			for j, peer := range b {
				for _, n := range []int{0, 8, 100_000} {
					want, got := pattern(n, byte(i*3+j)), make([]byte, n)
					recv := w.irecv(peer, got, 1, exact) // the same in all of them
					w.succeed(own, w.issend(own, want, w.at(toB, j, own), 1))
					st := w.done(peer, recv)
					w.same(got, want)
					if st.Source.Contexts() != 2 || st.Source.ContextIndex() != i {
						t.Errorf("a message of context %d came from %v", i, st.Source)
					}
					// The source is an address to answer to, and leads to the other contexts of the sender.
					back := w.irecv(a[1-i], nil, 2, exact)
					w.succeed(peer, w.issend(peer, nil, w.at(st.Source, 1-i, peer), 2))
					w.succeed(a[1-i], back)
				}
			}
		}
	})
}

// An endpoint without contexts connects with all of a peer's, and chooses by name and by hash.
func TestContextsByNameAndHash(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.several([]string{"control", "data", ""})
		toB := w.connect(a, b[0])
		named, err := toB.ContextNamed("data")
		if own, ownErr := b[0].ContextNamed("data"); err != nil || ownErr != nil || named.ContextIndex() != 1 || own != b[1] {
			t.Errorf("the context data is %v, %v, and there %v, %v", named, err, own, ownErr)
		}
		used := map[int]bool{}
		for match := range uint64(40) {
			to, err := toB.ContextFor(match)
			own := b[2].ContextFor(match)
			if err != nil || to.ContextIndex() != own.ContextIndex() || own.ContextIndex() != mx.HashContext(match, 3) {
				t.Fatalf("%v and %v, %v", to, own, err)
			}
			used[own.ContextIndex()] = true
			recv := w.irecv(own, nil, match, exact)
			w.succeed(a, w.issend(a, nil, to, match))
			w.succeed(own, recv)
		}
		if len(used) != 3 {
			t.Errorf("the hash uses contexts %v", used)
		}
	})
}

// Messages of one context to another match in the order in which they were sent, while others go their own way.
func TestContextsKeepTheirOrder(t *testing.T) {
	over(t, func(w *world) {
		const pairs, messages = 3, 300
		a, b := w.several(make([]string, pairs)), w.several(make([]string, pairs))
		toB := w.connect(a[0], b[0])
		var wg sync.WaitGroup
		for i := range pairs {
			to := w.at(toB, i, a[i])
			wg.Go(func() {
				for n := range messages {
					r, err := a[i].Isend([]byte{byte(n), byte(n >> 8)}, to, 1, nil)
					if err == nil {
						_, _, err = a[i].Wait(r, bound)
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
			wg.Go(func() {
				for n := range messages {
					buf := make([]byte, 2)
					r, err := b[i].Irecv(buf, 1, exact, nil)
					if err == nil {
						_, _, err = b[i].Wait(r, bound)
					}
					if err != nil || int(buf[0])+int(buf[1])<<8 != n {
						t.Errorf("message %d of pair %d is %v, %v", n, i, buf, err)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

// Windows, probes and handlers are those of their context.
func TestContextsShareNothing(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.several(make([]string, 2))
		toB := w.connect(a, b[0])
		w.succeed(a, w.issendLate(a, b[1], w.at(toB, 1, a)))
		win, err := b[1].OpenWindow(make([]byte, 8), mx.WindowRead|mx.WindowWrite)
		if err != nil {
			t.Fatal(err)
		}
		put, err := a.Iput([]byte{1}, w.at(toB, 1, a), win.Handle(), 0, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.succeed(a, put)
		put, err = a.Iput([]byte{1}, toB, win.Handle(), 0, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if st := w.done(a, put); st.Code == mx.StatusSuccess {
			t.Error("the window of a context is there in another")
		}
	})
}

// issendLate sends synchronously what the other context does not see, and receives it in the right one.
func (w *world) issendLate(from, at *mx.Endpoint, to mx.EndpointAddr) mx.Request {
	w.Helper()
	s := w.issend(from, nil, to, 5)
	first, err := at.ContextAt(0)
	if err != nil {
		w.Fatal(err)
	}
	if _, found, err := at.Probe(bound, 5, exact); !found || err != nil {
		w.Fatalf("no message: %v", err)
	}
	if _, found, err := first.Iprobe(5, exact); found || err != nil {
		w.Errorf("another context has the message: %v", err)
	}
	w.succeed(at, w.irecv(at, nil, 5, exact))
	return s
}

// Addresses of contexts that are not connected, and contexts that there are not, are refused at once.
func TestContextsThatThereAreNot(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.several([]string{"control", "data"})
		nic, id, err := mx.DecomposeEndpointAddr(b[1].Addr())
		if err != nil || id != b[0].ID() {
			t.Fatalf("%d, %v", id, err)
		}
		r, err := a.Iconnect(nic, id, testFilter, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		toB := w.done(a, r).Source
		if _, err := toB.ContextAt(1); !errors.Is(err, mx.ErrBadAddrList) || !strings.Contains(err.Error(), "ConnectContexts") {
			t.Errorf("a context that is not connected: %v", err)
		}
		if err := a.ConnectContexts(noContext, toB, testFilter+1); !errors.Is(err, mx.ErrBadConnectionKey) {
			t.Errorf("with another filter: %v", err)
		}
		for range 2 {
			if err := a.ConnectContexts(noContext, toB, testFilter); err != nil {
				t.Fatal(err)
			}
		}
		w.at(toB, 1, a)
		for what, err := range map[string]error{
			"context 2":         second(toB.ContextAt(2)),
			"context -1":        second(toB.ContextAt(-1)),
			"own context 2":     second(b[0].ContextAt(2)),
			"own context -1":    second(b[1].ContextAt(-1)),
			"own, of one":       second(a.ContextAt(1)),
			"no name":           second(toB.ContextNamed("")),
			"another name":      second(toB.ContextNamed("dat")),
			"own name":          second(b[0].ContextNamed("dat")),
			"name of one":       second(a.ContextNamed("data")),
			"id of a context":   second(a.Connect(nic, id+1, testFilter, bound)),
			"all, of a context": second(a.ConnectAll(noContext, []mx.PeerName{{NIC: nic, Endpoint: id + 1, Filter: testFilter}})),
		} {
			if !errors.Is(err, mx.ErrBadEndpointID) {
				t.Errorf("%s: %v", what, err)
			}
		}
		var none mx.EndpointAddr
		for what, err := range map[string]error{
			"context of nobody": second(none.ContextAt(0)), "name of nobody": second(none.ContextNamed("data")),
			"hash of nobody": second(none.ContextFor(1)), "nobody from": second(none.From(a)),
			"connect": a.ConnectContexts(noContext, none, testFilter),
		} {
			if !errors.Is(err, mx.ErrBadAddrList) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if none.Contexts() != 0 || none.ContextIndex() != 0 || none.ContextName() != "" {
			t.Error("contexts of nobody")
		}
		for _, own := range []*mx.Endpoint{nil, b[0]} {
			if _, err := toB.From(own); !errors.Is(err, mx.ErrBadEndpoint) {
				t.Errorf("for another endpoint: %v", err)
			}
		}
		if err := b[0].ConnectContexts(noContext, toB, testFilter); !errors.Is(err, mx.ErrBadEndpoint) {
			t.Errorf("an address of another endpoint: %v", err)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// All contexts end together, and the ids are free afterwards.
func TestContextsCloseTogether(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.several(make([]string, 3))
		toB := w.connect(a, b[0])
		var watches []mx.Request
		for i := range b {
			r, err := a.Watch(w.at(toB, i, a), 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			watches = append(watches, r)
		}
		if err := b[1].Close(); !errors.Is(err, mx.ErrBadEndpoint) || !strings.Contains(err.Error(), "close context 0") {
			t.Errorf("closing a context: %v", err)
		}
		blocked := make(chan error, 1)
		recv := w.irecv(b[2], nil, 1, exact)
		go func() {
			_, _, err := b[2].Wait(recv, bound)
			blocked <- err
		}()
		id := b[0].ID()
		if err := b[0].Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-blocked; !errors.Is(err, mx.ErrBadEndpoint) {
			t.Errorf("a wait in a context that closes: %v", err)
		}
		for _, r := range watches {
			if st := w.done(a, r); st.Code == mx.StatusSuccess {
				t.Errorf("%+v", st)
			}
		}
		if err := b[0].Close(); !errors.Is(err, mx.ErrBadEndpoint) {
			t.Errorf("closing again: %v", err)
		}
		for i := range b {
			ep, err := w.tryOpen(id + uint32(i))
			if err != nil {
				t.Errorf("id %d afterwards: %v", id+uint32(i), err)
			} else {
				shut(t, ep)
			}
		}
	})
}

func TestContextsAreNotClosedInHandlers(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.several(make([]string, 2))
		toB := w.connect(a, b[0])
		said := make(chan error, 1)
		if err := b[1].RegisterUnexpHandler(func(any, mx.EndpointAddr, uint64, uint32, []byte) mx.UnexpAction {
			said <- b[0].Close()
			return mx.RecvFinished
		}, nil); err != nil {
			t.Fatal(err)
		}
		s, err := a.Isend([]byte("x"), w.at(toB, 1, a), 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.succeed(a, s)
		select {
		case err = <-said:
		case <-time.After(bound):
			t.Fatal("the handler was not called")
		}
		if !errors.Is(err, mx.ErrCloseInHandler) {
			t.Errorf("closing inside a handler: %v", err)
		}
		w.at(toB, 1, a)
	})
}

// Ids that others have are told, and none of the endpoint's stays taken.
func TestContextsNeedTheirIDs(t *testing.T) {
	over(t, func(w *world) {
		id := uncommon()
		other, err := w.tryOpen(id + 2)
		if err != nil {
			w.Fatal(err)
		}
		if _, err := w.tryOpen(id, mx.WithContexts(3)); !errors.Is(err, mx.ErrBusy) || !strings.Contains(err.Error(), fmt.Sprintf("id %d, for context 2", id+2)) {
			t.Errorf("an id that is taken: %v", err)
		}
		shut(t, other)
		ep, err := w.tryOpen(id, mx.WithContexts(3))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.tryOpen(id + 1); !errors.Is(err, mx.ErrBusy) {
			t.Errorf("the id of a context: %v", err)
		}
		shut(t, ep)
		if _, err := w.tryOpen(mx.MaxEndpoints-1, mx.WithContexts(2)); !errors.Is(err, mx.ErrBadEndpointID) {
			t.Errorf("ids beyond the last: %v", err)
		}
	})
}

func TestBadContexts(t *testing.T) {
	w := newWorld(t, "mem")
	for _, p := range []mx.Param{
		mx.WithContexts(0), mx.WithContexts(-1), mx.WithContexts(mx.MaxContexts + 1), mx.WithContexts(1, "a", "b"),
		mx.WithContexts(3, "a", "", "a"), mx.WithContexts(2, "a\x00b"), mx.WithContexts(2, strings.Repeat("a", 255)),
		{Key: mx.ParamContexts, Value: 2},
	} {
		if _, err := w.tryOpen(mx.AnyEndpoint, p); !errors.Is(err, mx.ErrBadParamVal) || !strings.Contains(err.Error(), "WithContexts") {
			t.Errorf("%v: %v", p, err)
		}
	}
	one := w.open(mx.WithContexts(1))
	if one.Contexts() != 1 || one.ContextFor(7) != one || one.String() != fmt.Sprintf("%s/%d", boardName(t), one.ID()) {
		t.Errorf("one context: %d, %v", one.Contexts(), one)
	}
	named := w.open(mx.WithContexts(1, "only"))
	to := w.connect(one, named)
	if only, err := to.ContextNamed("only"); err != nil || only != to {
		t.Errorf("%v, %v", only, err)
	}
	most := w.open(mx.WithContexts(mx.MaxContexts, strings.Repeat("n", 240)))
	if to := w.connect(one, most); to.Contexts() != mx.MaxContexts || len(to.ContextName()) != 240 {
		t.Errorf("%d contexts, name %q", to.Contexts(), to.ContextName())
	}
}

func boardName(t *testing.T) string {
	boards, err := mx.Boards()
	if err != nil {
		t.Fatal(err)
	}
	return boards[0].Name
}

// The contexts of one endpoint reach each other like others.
func TestContextsOfOneEndpoint(t *testing.T) {
	over(t, func(w *world) {
		a := w.several(make([]string, 2))
		if _, err := a[0].Addr().ContextAt(1); !errors.Is(err, mx.ErrBadAddrList) {
			t.Errorf("before a connect: %v", err)
		}
		self := w.connect(a[0], a[0])
		for i := range 2 {
			recv := w.irecv(a[1-i], nil, 1, exact)
			w.succeed(a[i], w.issend(a[i], nil, w.at(self, 1-i, a[i]), 1))
			w.succeed(a[1-i], recv)
		}
	})
}

// Tools see each context by its name.
func TestContextsShow(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.several([]string{"control", "data"})
		toB := w.connect(a, b[0])
		name := fmt.Sprintf("%s/%d.1", boardName(t), b[0].ID())
		if b[1].String() != name || w.at(toB, 1, a).String() != name {
			t.Errorf("%v and %v, want %s", b[1], w.at(toB, 1, a), name)
		}
		if i := slices.IndexFunc(a.Peers(), func(p mx.PeerInfo) bool { return p.Name == name }); i < 0 {
			t.Errorf("%s is not among %+v", name, a.Peers())
		}
		w.irecv(b[1], nil, 77, exact)
		s := mx.Snapshot()
		i := slices.IndexFunc(s.Endpoints, func(e mx.EndpointSnapshot) bool { return e.Name == name })
		if i < 0 {
			t.Fatalf("no context %s: %+v", name, s.Endpoints)
		}
		if e := s.Endpoints[i]; e.Context != 1 || e.Contexts != 2 || e.ContextName != "data" || len(e.Pending) != 1 || e.Pending[0].MatchInfo != 77 {
			t.Errorf("%+v", e)
		}
		if len(b[0].Pending()) != 0 || len(b[1].Pending()) != 1 {
			t.Errorf("%v, %v", b[0].Pending(), b[1].Pending())
		}
		var text strings.Builder
		if err := b[1].WriteStats(&text); err != nil || !strings.HasPrefix(text.String(), "mx: "+name+", pid ") {
			t.Errorf("%v: %s", err, text.String())
		}
	})
}

// With the promise of SingleThreaded, each context has a goroutine of its own.
func TestSingleThreadedContexts(t *testing.T) {
	over(t, func(w *world) {
		names := make([]string, 3)
		a, b := w.several(names, mx.SingleThreaded()), w.several(names, mx.SingleThreaded())
		toB := w.connect(a[0], b[0])
		var all sync.WaitGroup
		for i := range names {
			to := w.at(toB, i, a[i])
			all.Go(func() {
				for n := range uint64(200) {
					if err := exchangeOne(a[i], b[i], to, n, make([]byte, 8), make([]byte, 8)); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
	})
}

// Who answers under the id of a context must be that context.
func TestContextsOfAnotherIncarnation(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.several(make([]string, 2))
		nic, id, err := mx.DecomposeEndpointAddr(b[0].Addr())
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Iconnect(nic, id, testFilter, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		toB := w.done(a, r).Source
		if err := b[0].Close(); err != nil {
			t.Fatal(err)
		}
		for i := range uint32(2) {
			if _, err := w.tryOpen(id + i); err != nil {
				t.Fatal(err)
			}
		}
		for range 100 { // the end of the old session may come only now
			if err = a.ConnectContexts(noContext, toB, testFilter); err != nil {
				break
			}
		}
		if !errors.Is(err, mx.ErrConnectionFailed) || !strings.Contains(err.Error(), "it is not context") {
			t.Errorf("other endpoints at the ids of contexts: %v", err)
		}
		if to, err := a.Connect(nic, id, testFilter, bound); err != nil || to.Contexts() != 1 {
			t.Errorf("a connect with one that has no contexts: %v, %v", to, err)
		}
	})
}

// Peers connect with each context, so that one listener would not keep the door.
func TestContextsHaveNoListener(t *testing.T) {
	over(t, func(w *world) {
		ep := w.open(mx.WithContexts(2))
		_, err := ep.Listen()
		refused(w, err, mx.ErrBadParamVal, "listen")
		err = ep.Admit(func(*mx.ConnectionRequest) (bool, []byte) { return true, nil })
		refused(w, err, mx.ErrBadParamVal, "admit")
		if _, err := w.tryOpen(uncommon(), mx.WithContexts(2), mx.Passive()); !errors.Is(err, mx.ErrBadParamVal) {
			w.Errorf("a passive endpoint with contexts: %v", err)
		}
	})
}
