package endpoint_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"gomx/endpoint"
)

func counting() (*endpoint.Engine, endpoint.QueueID) {
	e := endpoint.New(endpoint.Config{NIC: 1, Session: 1, EagerLimit: -1, CopyLimit: -1}, nobody{})
	return e, e.OpenCounter()
}

// tick has a counter count one request.
func tick(tb testing.TB, e *endpoint.Engine, q endpoint.QueueID) {
	tb.Helper()
	count(tb, e, q, e.Threshold(q, 0, 0, nil))
}

// count has a counter count a request.
func count(tb testing.TB, e *endpoint.Engine, q endpoint.QueueID, h endpoint.Handle) {
	tb.Helper()
	if err := e.Count(q, 1, func(int) endpoint.Handle { return h }); err != nil {
		tb.Fatal(err)
	}
}

// A counted send that finds no room in the link is counted when it has left, though there is room again a moment later.
func TestCountedSendBesideAFullLink(t *testing.T) {
	for refused := range 4 {
		a, _, ab, to := joined(t)
		q := a.OpenCounter()
		ab.refuse = refused
		if _, err := a.Send(&endpoint.Outgoing{First: make([]byte, 8), To: to, Match: 7}, &endpoint.SendOptions{Counter: q}); err != nil {
			t.Fatal(err)
		}
		ab.refuse = 0
		a.Flush()
		if successes, failures := a.Counts(q); successes != 1 || failures != 0 {
			t.Errorf("refused %d times: %d and %d are counted", refused, successes, failures)
		}
		if _, left := a.Outstanding(0); left != 0 {
			t.Errorf("refused %d times: %d requests are left", refused, left)
		}
	}
}

// Thresholds complete in the order of their numbers, those of one number in the order in which they were made, and what was cancelled, or
// has timed out, is not among them.
func TestThresholdsInTheirOrder(t *testing.T) {
	type made struct {
		h     endpoint.Handle
		count uint64
	}
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		e, q := counting()
		const most = 40
		var left []made
		for i := range uint64(200) {
			if len(left) > 0 && rng.IntN(3) == 0 {
				at := rng.IntN(len(left))
				h := left[at].h
				left = slices.Delete(left, at, at+1)
				if rng.IntN(2) == 0 {
					if ok, err := e.Cancel(h); !ok || err != nil {
						t.Fatal(ok, err)
					}
					continue
				}
				var st endpoint.Status
				if err := e.SetTimeout(h, 0); err != nil {
					t.Fatal(err)
				}
				e.Advance(e.NextDue())
				if ok, err := e.Test(h, &st); !ok || err != nil || st.Code != endpoint.TimedOut {
					t.Fatal(ok, err, st.Code)
				}
				continue
			}
			count := 1 + rng.Uint64N(most)
			left = append(left, made{e.Threshold(q, count, i, nil), count})
		}
		slices.SortStableFunc(left, func(a, b made) int { return cmp.Compare(a.count, b.count) })
		for total := range uint64(most) {
			tick(t, e, q)
			for len(left) > 0 && left[0].count == total+1 {
				var st endpoint.Status
				h, ok := e.Peek()
				if !ok || h != left[0].h {
					t.Fatalf("seed %d: at %d %#x is complete, %v, and not %#x", seed, total+1, h, ok, left[0].h)
				}
				if ok, err := e.Test(h, &st); !ok || err != nil || st.Code != endpoint.Success {
					t.Fatal(ok, err, st.Code)
				}
				left = left[1:]
			}
			if h, ok := e.Peek(); ok {
				t.Fatalf("seed %d: at %d %#x is complete", seed, total+1, h)
			}
		}
	}
}

// Each of very many thresholds is counted by its own counter, and completes the one that was made before it.
func TestThresholdsThatCompleteEachOther(t *testing.T) {
	e, q := counting()
	const many = 200_000
	last := e.Threshold(q, many+1, 0, nil)
	for i := range uint64(many) {
		count(t, e, q, e.Threshold(q, many-i, 0, nil))
	}
	tick(t, e, q)
	if successes, failures := e.Counts(q); successes != many+1 || failures != 0 {
		t.Errorf("%d and %d", successes, failures)
	}
	var st endpoint.Status
	if ok, err := e.Test(last, &st); !ok || err != nil || st.Code != endpoint.Success {
		t.Error(ok, err, st.Code)
	}
}

// What is left is aborted, also what the counter counts itself.
func TestThresholdsOfAClosedCounter(t *testing.T) {
	e, q := counting()
	far := e.Threshold(q, 3, 0, nil)
	for range 3 {
		count(t, e, q, e.Threshold(q, 2, 0, nil))
	}
	e.CloseQueue(q)
	var st endpoint.Status
	if ok, err := e.Test(far, &st); !ok || err != nil || st.Code != endpoint.Aborted {
		t.Error(ok, err, st.Code)
	}
	if _, all := e.Outstanding(0); all != 0 {
		t.Errorf("%d left", all)
	}
}

// A counter that is at its end stays there, whatever completes then, and what waits at the end has come to it.
func TestCounterAtItsEndStaysThere(t *testing.T) {
	const end = 1<<64 - 2
	countFailure := func(e *endpoint.Engine, q endpoint.QueueID) {
		h := e.Threshold(q, ^uint64(0), 0, nil)
		if err := e.SetTimeout(h, 0); err != nil {
			t.Fatal(err)
		}
		e.Advance(e.NextDue())
		count(t, e, q, h)
	}
	countSuccess := func(e *endpoint.Engine, q endpoint.QueueID) { tick(t, e, q) }
	for name, c := range map[string]struct {
		before uint64
		count  []func(*endpoint.Engine, endpoint.QueueID)
		failed uint64
	}{
		"successes":            {end, []func(*endpoint.Engine, endpoint.QueueID){countSuccess, countSuccess}, 0},
		"failures":             {end, []func(*endpoint.Engine, endpoint.QueueID){countFailure, countFailure}, 0},
		"both":                 {end - 1, []func(*endpoint.Engine, endpoint.QueueID){countFailure, countSuccess, countFailure}, 1},
		"the last is reached":  {end - 1, []func(*endpoint.Engine, endpoint.QueueID){countSuccess, countFailure, countSuccess}, 0},
		"more than it can say": {1<<64 - 1, []func(*endpoint.Engine, endpoint.QueueID){countSuccess}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			e, q := counting()
			last, never := e.Threshold(q, end, 0, nil), e.Threshold(q, ^uint64(0), 0, nil)
			e.Increment(q, c.before)
			for _, count := range c.count {
				count(e, q)
			}
			e.Increment(q, 3)
			if successes, failures := e.Counts(q); successes != end-c.failed || failures != c.failed {
				t.Errorf("%#x successes and %d failures", successes, failures)
			}
			var st endpoint.Status
			if ok, err := e.Test(last, &st); !ok || err != nil || st.Code != endpoint.Success {
				t.Error(ok, err, st.Code)
			}
			if !e.Pending(never) {
				t.Error("a counter has come beyond its end")
			}
		})
	}
}
