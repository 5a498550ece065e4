package hang

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// world is the communicator of most tests.
func world(size int) Comm {
	c := Comm{ID: "0", Name: "world"}
	for r := range size {
		c.Members = append(c.Members, r)
	}
	return c
}

func recv(from, tag int) Need {
	return Need{Kind: Recv, Op: "Recv", Peer: from, Tag: tag, Comm: "0", Bytes: 8}
}

func ssend(to, tag int) Need {
	return Need{Kind: Send, Op: "Ssend", Peer: to, Tag: tag, Comm: "0", Bytes: 8}
}

func coll(op string, number int) Need {
	return Need{Kind: Collective, Op: op, Tag: number, Comm: "0"}
}

func lock(at int) Need { return Need{Kind: Lock, Op: "Lock", Peer: at, Comm: "0"} }

func connect(to int) Need {
	return Need{Kind: Answer, Op: "Barrier", Peer: to, Comm: "0", Stage: "connects"}
}

func waits(needs ...Need) Rank {
	return Rank{State: Waits, Waits: []Wait{{Call: needs[0].Op, Age: 30, Needs: needs}}}
}

func waitAny(needs ...Need) Rank {
	return Rank{State: Waits, Waits: []Wait{{Call: "WaitAny", Age: 30, Any: true, Needs: needs}}}
}

func waitAll(needs ...Need) Rank {
	return Rank{State: Waits, Waits: []Wait{{Call: "WaitAll", Age: 30, Needs: needs}}}
}

func (r Rank) pending(needs ...Need) Rank { r.Pending = needs; return r }

func (r Rank) reachedWorld(number int) Rank { r.Reached = []Stand{{"0", number}}; return r }

func (r Rank) alsoWaits(other Rank) Rank { r.Waits = append(r.Waits, other.Waits...); return r }

// within has a context end the first call of the rank.
func (r Rank) within(left float64) Rank { r.Waits[0].Ends, r.Waits[0].Left = true, left; return r }

func (r Rank) is(s State) Rank { r.State = s; return r }

func jobOf(ranks ...Rank) Snapshot {
	s := Snapshot{Size: len(ranks), Comms: []Comm{world(len(ranks))}}
	for i, r := range ranks {
		r.Rank = i
		s.Ranks = append(s.Ranks, r)
	}
	return s
}

var noCall = Rank{State: NoCall}

var cases = []struct {
	name  string
	job   Snapshot
	stuck []int
	odd   bool // ranks are in different collectives for certain
	says  []string
	not   string // what the text must not say
}{
	{name: "crossed receives", job: jobOf(waits(recv(1, 5)), waits(recv(0, 5))), stuck: []int{0, 1},
		says: []string{"deadlock: rank 0 waits for rank 1 in Recv, tag 5, world; rank 1 waits for rank 0 in Recv, tag 5, world\n", "Recv from rank 1, tag 5, world, 8 B, for 30.0 s"}},
	{name: "calls that were found late", job: jobOf(Rank{State: Waits, Waits: []Wait{{Call: "Recv", Age: 0.1, Least: true, Needs: []Need{recv(1, 5)}}}}, noCall),
		says: []string{"Recv from rank 1, tag 5, world, 8 B, for at least 0.1 s"}},
	{name: "ring of synchronous sends", job: jobOf(waits(ssend(1, 0)), waits(ssend(2, 0)), waits(ssend(0, 0))), stuck: []int{0, 1, 2},
		says: []string{"rank 2 waits for rank 0 in Ssend"}},
	{name: "victims of a cycle", job: jobOf(waits(recv(1, 5)), waits(recv(0, 5)), waits(recv(0, 9)), noCall), stuck: []int{0, 1, 2},
		says: []string{"deadlock: rank 0 waits for rank 1"}, not: "probable cause"},
	{name: "a chain to a rank in no call", job: jobOf(waits(recv(1, 5)), waits(recv(2, 5)), noCall),
		says: []string{"probable cause: rank 2 (not blocked in an MPI call): rank 1 waits for it in Recv, tag 5, world; 2 ranks wait for it in all\n"}, not: "deadlock"},
	{name: "the message is under way", job: jobOf(waits(recv(1, 5)), waits(recv(0, 5)).pending(ssend(0, 5))),
		not: "deadlock"},
	{name: "the receive is posted", job: jobOf(waits(ssend(1, 5)).pending(recv(1, 6)), waits(ssend(0, 6)).pending(recv(0, 5))),
		not: "deadlock"},
	{name: "another tag is no help", job: jobOf(waits(ssend(1, 5)), waits(recv(0, 6))), stuck: []int{0, 1},
		says: []string{"deadlock: rank 0 waits for rank 1 in Ssend, tag 5"}},
	{name: "any tag is", job: jobOf(waits(ssend(1, 5)), waits(recv(0, Any))), not: "deadlock"},
	{name: "another communicator is no help", job: func() Snapshot {
		n := recv(0, 5)
		n.Comm = "8"
		s := jobOf(waits(ssend(1, 5)), waits(n))
		s.Comms = append(s.Comms, Comm{"8", "rows", []int{0, 1}})
		return s
	}(), stuck: []int{0, 1}, says: []string{"rank 1 waits for rank 0 in Recv, tag 5, rows"}},
	{name: "a collective that connects", job: jobOf(waits(connect(1), connect(2), connect(4)), noCall, noCall, waits(connect(1)), noCall),
		says: []string{"     0  Barrier to ranks 1-2, 4, world (connects), for 30.0 s\n", "     3  Barrier to rank 1, world (connects), for 30.0 s\n", "  ranks 0, 3: Barrier, world\n"}, not: "requests"},
	{name: "receives from anybody", job: jobOf(waits(recv(Any, 5)), waits(recv(Any, 5))),
		says: []string{"possible deadlock (if no other rank sends): rank 0 waits for rank 1 in Recv, tag 5, world; rank 1", "Recv from any rank"}},
	{name: "somebody may send to anybody", job: jobOf(waits(recv(Any, 5)), waits(recv(0, 5)), noCall),
		says: []string{"probable cause: rank 2 (not blocked in an MPI call): rank 0 waits"}, not: "deadlock"},
	{name: "one of two is enough", job: jobOf(waitAny(recv(1, 5), recv(2, 5)), waits(recv(0, 5)), noCall),
		says: []string{"probable cause: rank 2"}, not: "deadlock"},
	{name: "all are needed", job: jobOf(waitAll(recv(1, 5), recv(2, 5)), waits(recv(0, 5)), noCall), stuck: []int{0, 1},
		says: []string{"rank 0 waits for rank 1 in WaitAll of Recv, tag 5, world", "WaitAll of 2 requests, for 30.0 s; Recv from rank 1"}},
	{name: "another goroutine goes on", job: jobOf(waits(recv(1, 5)).alsoWaits(waits(recv(2, 5))), waits(recv(0, 5)), noCall),
		says: []string{"probable cause: rank 2"}, not: "deadlock"},
	{name: "one is missing in a barrier", job: jobOf(waits(coll("Barrier", 17)), waits(coll("Barrier", 17)), noCall, waits(coll("Barrier", 17))),
		says: []string{"probable cause: rank 2 (not blocked in an MPI call): it has not come to Barrier #17 of world; 3 ranks wait for it in all", "ranks 0-1, 3: Barrier #17 of world\n", "rank 2: not blocked in an MPI call\n"}},
	{name: "one is through", job: jobOf(waits(coll("Barrier", 17)), noCall.reachedWorld(17)),
		says: []string{"no cycle"}, not: "cause"},
	{name: "all are in a collective", job: jobOf(waits(coll("Allreduce", 17)), waits(coll("Allreduce", 17)), waits(coll("Allreduce", 17))),
		says: []string{"all ranks of world are in Allreduce #17: if that lasts, they have given it different lengths or roots; MX_CHECK=1 says which"}, not: "no cycle"},
	{name: "a receive keeps it from the barrier", job: jobOf(waits(coll("Barrier", 17)), waits(coll("Barrier", 17)), waits(recv(0, 5)).reachedWorld(16)), stuck: []int{0, 1, 2},
		says: []string{"deadlock: rank 0 waits for rank 2 in Barrier #17 of world; rank 2 waits for rank 0 in Recv, tag 5, world"}},
	{name: "different collectives", job: jobOf(waits(coll("Barrier", 3)), waits(coll("Bcast", 3)), waits(coll("Barrier", 3))), odd: true,
		says: []string{"mismatch: collective #3 of world is Barrier at ranks 0, 2 and Bcast at rank 1\n"}},
	{name: "one has left by another collective", job: jobOf(waits(coll("Barrier", 1)).reachedWorld(1), waits(coll("Allreduce", 2)).reachedWorld(2), waits(coll("Barrier", 1)).reachedWorld(1)),
		says: []string{"probable cause: rank 0 (Barrier #1 of world): it has not come to Allreduce #2 of world; others have left what it is in, perhaps by another collective that has failed there: MX_CHECK=1 says so; 1 rank waits"}},
	{name: "locks taken crosswise", job: func() Snapshot {
		s := jobOf(waits(lock(1)), waits(lock(0)))
		s.Locks = []Held{{"0", 0, []int{0}}, {"0", 1, []int{1}}}
		return s
	}(), stuck: []int{0, 1}, says: []string{"deadlock: rank 0 waits for rank 1 in Lock, world"}},
	{name: "one that is dead", job: jobOf(waits(recv(1, 5)), Rank{}.is(Dead)), stuck: []int{0},
		says: []string{"never ends: rank 0 waits for rank 1 in Recv, tag 5, world, which is dead\n", "rank 1: is dead"}},
	{name: "one that has finalized", job: jobOf(waits(recv(1, 5)), Rank{}.is(Finalized), waits(recv(0, 1))), stuck: []int{0, 2},
		says: []string{"never ends: rank 0 waits for rank 1 in Recv, tag 5, world, which has finalized\n"}},
	{name: "one that does not answer", job: jobOf(waits(recv(1, 5)), Rank{}.is(Silent)),
		says: []string{"probable cause: rank 1 (does not answer)"}, not: "deadlock"},
	{name: "one that nobody has heard of", job: Snapshot{Size: 2, Comms: []Comm{world(2)}},
		says: []string{"ranks 0-1: does not answer\n"}},
	{name: "all have contexts", job: jobOf(waits(recv(1, 5)).within(4), waits(recv(0, 5)).within(0)),
		says: []string{"possible deadlock (if no context ends a call): rank 0 waits for rank 1 in Recv, tag 5, world; rank 1",
			"8 B, for 30.0 s, or until the deadline of its context in 4.0 s\n", "8 B, for 30.0 s, or until its context ends\n"}, not: "deadlock"},
	{name: "one of them has a context", job: jobOf(waits(recv(1, 5)).within(4), waits(recv(2, 5)), waits(recv(0, 5))),
		says: []string{"possible deadlock (if no context ends a call): rank 0 waits for rank 1"}, not: "deadlock"},
	{name: "a victim has a context", job: jobOf(waits(recv(1, 5)), waits(recv(0, 5)), waits(recv(0, 9)).within(4)), stuck: []int{0, 1},
		says: []string{"deadlock: rank 0 waits for rank 1"}, not: "possible"},
	{name: "a goroutine has a context", job: jobOf(waits(recv(1, 5)).alsoWaits(waits(recv(1, 6)).within(4)), waits(recv(0, 5))),
		says: []string{"possible deadlock (if no context ends a call)"}, not: "deadlock"},
	{name: "a context, and a receive from anybody", job: jobOf(waits(recv(Any, 5)), waits(recv(0, 5)).within(4)),
		says: []string{"possible deadlock (if no other rank sends, and no context ends a call): rank 0"}, not: "deadlock"},
	{name: "a context in a barrier", job: jobOf(waits(recv(1, 1)).within(4), waits(coll("Barrier", 3)), waits(coll("Barrier", 3))),
		says: []string{"possible deadlock (if no context ends a call): rank 0 waits for rank 1 in Recv, tag 1, world; rank 1 waits for rank 0 in Barrier #3 of world"}, not: "deadlock"},
	{name: "locks within a time", job: func() Snapshot {
		s := jobOf(waits(lock(1)).within(4), waits(lock(0)).within(4))
		s.Locks = []Held{{"0", 0, []int{0}}, {"0", 1, []int{1}}}
		return s
	}(), says: []string{"possible deadlock (if no context ends a call): rank 0 waits for rank 1 in Lock, world"}, not: "deadlock"},
	{name: "different collectives within a time", job: jobOf(waits(coll("Barrier", 3)), waits(coll("Bcast", 3)).within(4)),
		says: []string{"mismatch: collective #3 of world is Barrier at rank 0 and Bcast at rank 1\n"}},
	{name: "one that is dead, within a time", job: jobOf(waits(recv(1, 5)).within(4), Rank{}.is(Dead)),
		says: []string{"possible deadlock (if no context ends a call): rank 0 waits for rank 1 in Recv, tag 5, world, which is dead\n"}, not: "never ends"},
	{name: "a cycle that shares a rank with one within a time", job: jobOf(waits(recv(1, 5)).within(4), waitAll(recv(0, 5), recv(2, 5)), waits(recv(1, 5))), stuck: []int{1, 2},
		says: []string{"\ndeadlock: rank 1 waits for rank 2 in WaitAll of Recv, tag 5, world; rank 2 waits for rank 1"}, not: "possible"},
	{name: "to oneself", job: jobOf(waits(recv(0, 5)), noCall), stuck: []int{0},
		says: []string{"deadlock: rank 0 waits for rank 0"}},
}

func TestAnalysis(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := Analyze(c.job)
			text := r.Text()
			if !slices.Equal(r.Stuck, c.stuck) {
				t.Errorf("stuck: %v, want %v\n%s", r.Stuck, c.stuck, text)
			}
			if want := len(c.stuck) > 0 || c.odd; r.Certain() != want {
				t.Errorf("certain: %v", r.Certain())
			}
			if reason := r.Reason(); r.Certain() == (reason == "") || strings.Contains(reason, "\n") || !strings.Contains(text, reason) {
				t.Errorf("the reason is %q", reason)
			}
			for _, s := range c.says {
				if !strings.Contains(text, s) {
					t.Errorf("the report does not say %q:\n%s", s, text)
				}
			}
			if c.not != "" && strings.Contains(strings.ReplaceAll(text, "possible deadlock", ""), c.not) {
				t.Errorf("the report says %q:\n%s", c.not, text)
			}
		})
	}
}

// TestJSON wants a report that comes back from JSON as it was.
func TestJSON(t *testing.T) {
	for _, c := range cases {
		r := Analyze(c.job)
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var back Report
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if again := Analyze(back.Snapshot); again.Text() != r.Text() {
			t.Errorf("%s: the snapshot says something else after JSON:\n%s\nwant\n%s", c.name, again.Text(), r.Text())
		}
	}
}

// TestLargeJob wants a table that is cut, and groups that are not.
func TestLargeJob(t *testing.T) {
	ranks := make([]Rank, 5000)
	for i := range ranks {
		ranks[i] = waits(coll("Allreduce", 9))
	}
	ranks[4321] = waits(recv(4322, 1))
	ranks[4322] = noCall
	text := Analyze(jobOf(ranks...)).Text()
	for _, want := range []string{"and 4936 more ranks", "ranks 0-4320, 4323-4999: Allreduce #9 of world", "rank 4321: Recv, tag 1, world", "probable cause: rank 4322 (not blocked in an MPI call): "} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q:\n%.2000s", want, text)
		}
	}
}

// TestSettle: what two reports in a row have found in the same calls is certain, and what one has found alone is not.
func TestSettle(t *testing.T) {
	crossed := func(first, second uint64) *Report {
		a, b := waits(recv(1, 7)), waits(recv(0, 7))
		a.Rank, b.Rank, a.Waits[0].ID, b.Waits[0].ID = 0, 1, first, second
		return Analyze(Snapshot{Size: 2, Ranks: []Rank{a, b}, Comms: []Comm{world(2)}})
	}
	r := crossed(1, 2)
	if !r.Certain() || !strings.HasPrefix(r.Reason(), "deadlock: ") {
		t.Fatalf("%q", r.Verdict())
	}
	for name, c := range map[string]struct {
		earlier *Report
		stays   bool
	}{
		"alone": {nil, false}, "same": {crossed(1, 2), true}, "other call": {crossed(1, 3), false},
		"nobody stuck": {Analyze(Snapshot{Size: 2, Comms: []Comm{world(2)}}), false},
	} {
		r := crossed(1, 2)
		stays := r.Settle(c.earlier)
		if stays != c.stays || r.Certain() != stays || strings.Contains(r.Verdict(), "possible deadlock (if these calls do not end in a moment): ") == stays {
			t.Errorf("%s: stays %v, certain %v:\n%s", name, stays, r.Certain(), r.Verdict())
		}
		if !crossed(1, 2).Settle(r) {
			t.Errorf("%s: what was in doubt is not confirmed by the next report", name)
		}
	}
}

// TestNamesake: communicators of the same name are told apart, and their ranks do not stand at the same place.
func TestNamesake(t *testing.T) {
	barrier := func(comm string) Rank {
		return waits(Need{Kind: Collective, Op: "Barrier", Tag: 1, Comm: comm})
	}
	s := jobOf(barrier("6@0"), barrier("8@0"))
	for _, id := range []string{"6@0", "8@0"} {
		s.Comms = append(s.Comms, Comm{ID: id, Name: "world.split0", Members: []int{0, 1}})
	}
	r := Analyze(s)
	for _, says := range []string{"Barrier #1 of world.split0 (6@0)", "Barrier #1 of world.split0 (8@0)"} {
		if !strings.Contains(r.Text(), says) {
			t.Errorf("%q is missing in\n%s", says, r.Text())
		}
	}
	if len(r.Groups) != 2 {
		t.Errorf("groups %+v", r.Groups)
	}
}
