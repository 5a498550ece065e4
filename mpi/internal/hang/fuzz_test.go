package hang

import (
	"slices"
	"testing"
)

// script makes a snapshot of a fuzzer's bytes.
type script []byte

func (s *script) next(below int) int {
	if len(*s) == 0 {
		return 0
	}
	b := (*s)[0]
	*s = (*s)[1:]
	return int(b) % below
}

func (s *script) job() Snapshot {
	ranks := make([]Rank, 1+s.next(6))
	for i := range ranks {
		switch s.next(6) {
		case 0:
			ranks[i] = noCall.reachedWorld(s.next(3))
		case 1:
			ranks[i] = Rank{State: []State{Silent, Dead, Finalized}[s.next(3)]}
		default:
			ranks[i] = s.rank(len(ranks))
		}
	}
	j := jobOf(ranks...)
	for range s.next(3) {
		j.Locks = append(j.Locks, Held{"0", s.next(len(ranks)), []int{s.next(len(ranks) + 2)}})
	}
	return j
}

func (s *script) rank(size int) Rank {
	r := Rank{State: Waits}
	for range 1 + s.next(2) {
		w := Wait{Call: "Wait", Age: float64(s.next(9)), Any: s.next(3) == 0, Ends: s.next(4) == 0}
		for range s.next(3) {
			w.Needs = append(w.Needs, s.need(size))
		}
		r.Waits = append(r.Waits, w)
	}
	for range s.next(2) {
		r.Pending = append(r.Pending, s.need(size))
	}
	return r
}

func (s *script) need(size int) Need {
	peer := s.next(size+2) - 1
	switch s.next(6) {
	case 0:
		return ssend(peer, s.next(2))
	case 1:
		return coll([]string{"Barrier", "Bcast"}[s.next(2)], s.next(3))
	case 2:
		return lock(peer)
	case 3:
		return Need{Kind: Answer, Op: "Flush", Peer: peer}
	}
	return recv(peer, s.next(3)-1)
}

// FuzzAnalyze wants every cycle to be one, the stuck ranks to be stuck by the rules,
// nobody to be stuck for certain who is not possibly, and the order of the ranks to
// make no difference.
func FuzzAnalyze(f *testing.F) {
	f.Add([]byte{1, 2, 0, 0, 1, 2, 4, 1, 0, 0, 2, 0, 0, 1, 1, 4, 1, 0, 0})
	f.Add([]byte{5, 2, 0, 0, 1, 0, 1, 0, 1, 0, 3, 0, 1, 2, 2, 2, 0, 2, 1, 1, 3, 2, 1, 4, 2, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		s := script(b)
		snapshot := s.job()
		r := Analyze(snapshot)
		text := r.Text()
		slices.Reverse(snapshot.Ranks)
		if other := Analyze(snapshot).Text(); other != text {
			t.Fatalf("in another order:\n%s\nnot\n%s", other, text)
		}
		j := order(snapshot)
		v := j.judge()
		for q, in := range v.certain {
			if in && !(v.unlessSent[q] && v.unlessEnded[q]) || (v.unlessSent[q] || v.unlessEnded[q]) && !v.possible[q] {
				t.Fatalf("rank %d is stuck for certain, not possibly:\n%s", q, text)
			}
			checkStuck(t, j, q, in, v.certain)
		}
		for _, c := range r.Cycles {
			checkCycle(t, j, c)
		}
		if r.Certain() == (r.Reason() == "") {
			t.Fatalf("certain %v, for the reason %q:\n%s", r.Certain(), r.Reason(), text)
		}
		if snapshot.Size != len(j.ranks) || len(text) == 0 {
			t.Fatal("the job has changed")
		}
	})
}

// checkStuck says the rule once more, in the naive way.
func checkStuck(t *testing.T, j *job, r int, in bool, all []bool) {
	t.Helper()
	free := j.ranks[r].State != Waits || len(j.ranks[r].Waits) == 0
	for i, w := range j.ranks[r].Waits {
		held, open := 0, 0
		for k, n := range w.Needs {
			inHopeless := false
			for _, q := range j.blocks[r][i][k].ranks {
				inHopeless = inHopeless || all[q] || j.ranks[q].State == Dead || j.ranks[q].State == Finalized
			}
			if inHopeless && !(n.Kind == Recv && n.Peer == Any) {
				held++
			} else {
				open++
			}
		}
		free = free || w.Ends || held == 0 || w.Any && open > 0
	}
	if in == free {
		t.Fatalf("rank %d: stuck %v, free by the rules %v", r, in, free)
	}
}

func checkCycle(t *testing.T, j *job, c Cycle) {
	t.Helper()
	seen := map[int]bool{}
	for i, s := range c.Steps {
		if seen[s.Rank] {
			t.Fatalf("a cycle passes rank %d twice", s.Rank)
		}
		seen[s.Rank] = true
		if !slices.ContainsFunc(j.edges(s.Rank), func(e edge) bool { return e.to == s.Next }) {
			t.Fatalf("rank %d does not wait for rank %d", s.Rank, s.Next)
		}
		last := i == len(c.Steps)-1
		switch {
		case last && c.Gone:
			if !j.gone(s.Next) {
				t.Fatalf("rank %d is not gone", s.Next)
			}
		case s.Next != c.Steps[(i+1)%len(c.Steps)].Rank:
			t.Fatalf("the step from rank %d does not lead to the next", s.Rank)
		}
	}
}
