package trace

import (
	"cmp"
	"slices"
	"testing"

	"gomx/endpoint"
)

// exchange is a made job, in which each rank computes and then sends to all others, which wait for that, round by round.
type exchange struct {
	compute []int64 // by rank, in each round
	flight  int64   // of each message
	rounds  int
	once    []int64 // by rank, in the first round besides
}

func (x exchange) report(t *testing.T) *Report {
	t.Helper()
	ranks := len(x.compute)
	events, now := make([][]endpoint.Event, ranks), make([]int64, ranks)
	for round := range x.rounds {
		for r := range ranks {
			if now[r] += x.compute[r]; round == 0 && x.once != nil {
				now[r] += x.once[r]
			}
			for to := range ranks {
				if to != r {
					events[r] = append(events[r], sent(now[r], uint32(to), uint32(round+1)))
				}
			}
		}
		left := slices.Clone(now)
		for r := range ranks {
			for _, from := range lastFirst(left) {
				if from == r {
					continue
				}
				comes := max(now[r]+1, left[from]+x.flight)
				events[r] = append(events[r], received(comes, uint32(from), uint32(round+1)))
				if comes > now[r]+1 {
					events[r] = append(events[r], waited(now[r], comes+1))
				}
				now[r] = comes + 2
			}
		}
	}
	var files []*File
	for r := range ranks {
		files = append(files, rankFile(r, ranks, "host", events[r]...))
	}
	all, err := Merge(files)
	if err != nil {
		t.Fatal(err)
	}
	return all.Report()
}

// lastFirst returns the ranks whose messages leave last, first.
func lastFirst(left []int64) []int {
	order := make([]int, len(left))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(left[b], left[a]) })
	return order
}

// TestHolder names the slow rank of jobs, whether messages are quick or take most of the time, and nobody where ranks are as slow as each other.
func TestHolder(t *testing.T) {
	for _, c := range []struct {
		name   string
		job    exchange
		holder string
	}{
		{"quick messages", exchange{[]int64{10, 10, 2000, 10}, 5, 20, nil}, "rank 2"},
		{"messages that take most of the time", exchange{[]int64{10, 10, 2000, 10}, 4000, 20, nil}, "rank 2"},
		{"twice as slow", exchange{[]int64{2000, 1000, 1000, 1000}, 5, 20, nil}, "rank 0"},
		{"slower by six tenths", exchange{[]int64{1600, 1000, 1000, 1000}, 5, 20, nil}, "rank 0"},
		{"two ranks", exchange{[]int64{100, 1000}, 50, 20, nil}, "rank 1"},
		{"64 ranks", exchange{many(64, 100, 17, 2000), 500, 5, nil}, "rank 17"},
		{"late once, for most of the time", exchange{[]int64{10, 10, 10, 10}, 5, 20, []int64{0, 90_000_000, 0, 0}}, "rank 1"},
		{"late once, for some of the time", exchange{[]int64{10, 10, 10, 10}, 5_000_000, 20, []int64{0, 90_000_000, 0, 0}}, ""},
		{"late once, in a job that takes no time", exchange{[]int64{10, 10, 10, 10}, 5, 20, []int64{0, 24_000_000, 0, 0}}, ""},
		{"even", exchange{[]int64{1000, 1000, 1000, 1000}, 5, 20, nil}, ""},
		{"even, but for a little", exchange{[]int64{1000, 1000, 1001, 1000}, 5, 20, nil}, ""},
		{"even, and messages take most of the time", exchange{[]int64{10, 10, 30, 10}, 1000, 20, nil}, ""},
		{"one rank", exchange{[]int64{1000}, 5, 20, nil}, ""},
	} {
		if rep := c.job.report(t); rep.Path.Holder != c.holder {
			t.Errorf("%s: %q, want %q: path %+v, rank 0 %+v", c.name, rep.Path.Holder, c.holder, rep.Path, rep.Ranks[0])
		}
	}
}

// many are ranks of which one is slow.
func many(ranks int, others int64, slow int, its int64) []int64 {
	all := make([]int64, ranks)
	for i := range all {
		all[i] = others
	}
	all[slow] = its
	return all
}

// TestPartsOfWaits puts the parts of a wait together, between which its goroutine has gone to sleep.
func TestPartsOfWaits(t *testing.T) {
	all, err := Merge([]*File{
		rankFile(0, 2, "host", waited(0, 1_000_000), received(2_010_000, 1, 1), waited(1_050_000, 2_010_100)),
		rankFile(1, 2, "host", sent(2_000_000, 0, 1)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if rep := all.Report(); rep.Ranks[0].Behind != 2_000_000 || rep.Ranks[0].Waits != 1 {
		t.Errorf("rank 0: %+v", rep.Ranks[0])
	}
}
