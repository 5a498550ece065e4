package main

import (
	"fmt"
	"slices"
	"testing"
)

// send is a large one that waits for its receive.
func send(from, to string) request {
	return request{Endpoint: from, Peer: to, Kind: "send", Stage: "waits for the peer to match and fetch it", Age: 9}
}

// TestCycles finds who waits in a circle, however long it is, and not who waits for one, or whom one waits for.
func TestCycles(t *testing.T) {
	const too, others = "waits for it, too: a cycle", "waits for it through others: a cycle"
	for _, c := range []struct {
		requests []request
		want     []string // what the peer of each does
	}{
		{[]request{send("a", "b"), send("b", "a")}, []string{too, too}},
		{[]request{send("a", "b"), send("b", "c"), send("c", "a")}, []string{others, others, others}},
		{[]request{send("a", "b"), send("b", "c"), send("c", "b"), send("c", "d")}, []string{"", too, too, ""}},
		{[]request{send("a", "b"), send("b", "c"), send("a", "c")}, []string{"", "", ""}},
		{[]request{send("d", "e"), send("a", "b"), send("b", "c"), send("c", "a"), send("e", "d"), send("c", "d")}, []string{too, others, others, others, too, ""}},
	} {
		v := &view{Requests: c.requests}
		v.findBlocked()
		for i, want := range c.want {
			b := &v.Blocked[i]
			if b.Cycle != (want != "") || b.Cycle && b.Peer != want {
				t.Errorf("%+v: %s waits for %s: cycle %v, %q, want %q", c.requests, b.From, b.To, b.Cycle, b.Peer, want)
			}
		}
	}
}

// TestLongCycle has every of many endpoints wait for the next.
func TestLongCycle(t *testing.T) {
	v := &view{}
	for i := range 5000 {
		v.Requests = append(v.Requests, send(fmt.Sprint(i), fmt.Sprint((i+1)%5000)))
	}
	v.findBlocked()
	if len(v.Blocked) != 5000 || slices.ContainsFunc(v.Blocked, func(b blocked) bool { return !b.Cycle }) {
		t.Errorf("of %d that wait, some are in no cycle", len(v.Blocked))
	}
}

// TestFullStore says how full the store is of whoever does not receive.
func TestFullStore(t *testing.T) {
	v := &view{Requests: []request{send("a", "b"), send("c", "d")}, Endpoints: []row{
		{Name: "b", Unexpected: 1, UnexpectedBytes: 4096, UnexpectedBound: 64 << 20}, {Name: "d", Posted: 1},
	}}
	v.findBlocked()
	if got := []string{v.Blocked[0].Peer, v.Blocked[1].Peer}; !slices.Equal(got, []string{"has 1 message that no receive has taken: 4.1 kB with their headers, of a bound of 67.1 MB without", "has 1 receive posted"}) {
		t.Errorf("%q", got)
	}
}
