package mx_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	"gomx/mx"
)

// TestCountersHaveIdentifiers wants each counter to have a name of its own, with its labels, and all that describes it.
func TestCountersHaveIdentifiers(t *testing.T) {
	over(t, func(w *world) {
		name := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
		ep := w.open()
		seen := map[string]bool{}
		for _, c := range ep.Counters() {
			identity := c.Name
			for _, l := range c.Labels {
				identity += "," + l.Name + "=" + l.Value
			}
			switch {
			case !name.MatchString(c.Name):
				w.Errorf("%q is no identifier", c.Name)
			case seen[identity]:
				w.Errorf("%s is there twice", identity)
			case c.Label == "" || c.Unit == "" || c.Help == "" || c.Kind != mx.Cumulative && c.Kind != mx.Gauge:
				w.Errorf("%+v is not described", c)
			}
			seen[identity] = true
		}
	})
}

func TestSnapshot(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		posted := w.irecv(a, make([]byte, 30), 0x100, 0xf00)
		w.sendUnexpected(a, b, pattern(50, 0), toB, 3)
		s := mx.Snapshot()
		if len(s.Endpoints) != 2 {
			w.Fatalf("%d endpoints", len(s.Endpoints))
		}
		text, err := json.Marshal(s)
		if err != nil {
			w.Fatal(err)
		}
		var back mx.ProcessSnapshot
		if err := json.Unmarshal(text, &back); err != nil {
			w.Fatal(err)
		}
		s.Taken, back.Taken = s.Taken.UTC().Round(0), back.Taken.UTC()
		for i := range s.Endpoints {
			s.Endpoints[i].Opened, back.Endpoints[i].Opened = s.Endpoints[i].Opened.UTC().Round(0), back.Endpoints[i].Opened.UTC()
		}
		if !reflect.DeepEqual(s, back) {
			w.Errorf("%+v became %+v", s, back)
		}
		of := map[string]*mx.EndpointSnapshot{}
		for i := range s.Endpoints {
			of[s.Endpoints[i].Name] = &s.Endpoints[i]
		}
		sender, receiver := of[a.String()], of[b.String()]
		if sender == nil || receiver == nil {
			w.Fatalf("%v", of)
		}
		if p := sender.Pending; sender.Depths.Posted != 1 || len(p) != 1 || p[0].Kind != "recv" || p[0].MatchMask != 0xf00 || p[0].Peer != "" || p[0].Bytes != 30 {
			w.Errorf("%+v %+v", sender.Depths, p)
		}
		if receiver.Depths.Unexpected != 1 || receiver.Depths.UnexpectedBytes < 50 {
			w.Errorf("%+v", receiver.Depths)
		}
		if len(sender.Peers) != 1 || sender.Peers[0].Name != b.String() {
			w.Errorf("%+v", sender.Peers)
		}
		if ok, err := a.Cancel(posted); !ok || err != nil {
			w.Error(ok, err)
		}
	})
}

// TestClasses counts the messages of two classes apart, large ones and those to oneself among them.
// TestCompletionsAreCounted: those that nobody has collected, wherever they are collected.
func TestCompletionsAreCounted(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		q := w.queue(b)
		w.multi(b, q, make([]byte, 1<<10), 0, 0x100, 0xf00)
		w.add(q, w.irecv(b, make([]byte, 8), 0x200, mx.MatchMaskNone))
		alone := w.irecv(b, make([]byte, 8), 0x300, mx.MatchMaskNone)
		for _, match := range []uint64{0x100, 0x200, 0x101, 0x300} {
			w.succeed(a, w.isend(a, pattern(8, 1), toB, match))
		}
		completed := func() int {
			for _, ep := range mx.Snapshot().Endpoints {
				if ep.Name == b.String() {
					return ep.Depths.Completed
				}
			}
			return -1
		}
		w.until("all have come", func() bool { return completed() == 4 }, b)
		w.next(q)
		w.succeed(b, alone)
		if n := completed(); n != 2 {
			w.Errorf("%d completions are left, want 2", n)
		}
	})
}

func TestClasses(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair(mx.WithClasses(32))
		const one, two = 1 << 32, 2 << 32
		transfer := func(to *mx.Endpoint, at mx.EndpointAddr, match uint64, size int) {
			r := w.irecv(to, make([]byte, size), match, exact)
			s := w.isend(a, pattern(size, 0), at, match)
			w.until("transfer", func() bool {
				st, done, err := to.Test(r)
				return done && err == nil && st.Code == mx.StatusSuccess
			}, a)
			w.succeed(a, s)
		}
		transfer(b, toB, one|7, 8)
		transfer(b, toB, one|7, 200_000)
		transfer(a, a.Addr(), two, 100)
		win := openWindow(w, b, make([]byte, 200_000), mx.WindowRead)
		get, err := a.Iget(make([]byte, 200_000), toB, win.Handle(), 0, one|7, nil) // is no message
		if err != nil {
			w.Fatal(err)
		}
		w.succeed(a, get)
		check := func(ep *mx.Endpoint, want map[uint64]mx.Tally) {
			for _, t := range ep.Tallies() {
				t.Waits, t.Waited, t.InCalls = 0, 0, 0
				if t != (mx.Tally{Class: t.Class}) && t != want[t.Class] {
					w.Errorf("%+v, want %+v", t, want[t.Class])
				}
				delete(want, t.Class)
			}
			if len(want) > 0 {
				w.Errorf("missing: %v", want)
			}
		}
		own := mx.Tally{Class: 2, MessagesSent: 1, BytesSent: 100, MessagesReceived: 1, BytesReceived: 100}
		check(a, map[uint64]mx.Tally{1: {Class: 1, MessagesSent: 2, BytesSent: 200_008}, 2: own})
		check(b, map[uint64]mx.Tally{1: {Class: 1, MessagesReceived: 2, BytesReceived: 200_008}})
		a.MergeTally(2, 9)
		own.Class = 9
		check(a, map[uint64]mx.Tally{1: {Class: 1, MessagesSent: 2, BytesSent: 200_008}, 9: own})
	})
}

// TestWaitsAreCounted counts a wait that was long, and in vain.
func TestWaitsAreCounted(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair(mx.WithClasses(32), mx.WithSpin(0))
		r := w.irecv(b, make([]byte, 8), 3<<32, exact)
		counted := func() bool {
			return slices.ContainsFunc(b.Tallies(), func(t mx.Tally) bool { return t.Class == 3 && t.Waits > 0 })
		}
		for timeout := 5 * time.Millisecond; !counted() && timeout < bound; timeout *= 4 { // on a busy machine it passes before the wait begins
			if _, ok, err := b.Wait(r, timeout); ok || err != nil {
				w.Fatal(ok, err)
			}
		}
		w.succeed(a, w.isend(a, pattern(8, 0), toB, 3<<32))
		w.until("arrival", func() bool {
			_, ok, err := b.Test(r)
			return ok && err == nil
		})
		for _, tally := range b.Tallies() {
			if tally.Class == 3 && (tally.Waits != 1 || tally.Waited <= 0 || tally.MessagesReceived != 1) {
				w.Errorf("%+v", tally)
			}
		}
	})
}
