package mpi

import "testing"

func TestCrowd(t *testing.T) {
	alone, pair := cores{count: 1, mask: 1}, cores{count: 1, mask: 2}
	two := cores{count: 2, mask: 3}
	on := func(host string, c cores) businessCard { return businessCard{host: host, cores: c} }
	for name, x := range map[string]struct {
		businessCards []businessCard
		want          int
	}{
		"one rank":             {[]businessCard{on("a", two)}, 1},
		"a core each":          {[]businessCard{on("a", two), on("a", two)}, 1},
		"two a core":           {[]businessCard{on("a", two), on("a", two), on("a", two)}, 2},
		"bound apart":          {[]businessCard{on("a", alone), on("a", pair)}, 1},
		"bound to one":         {[]businessCard{on("a", alone), on("a", alone)}, 2},
		"the denser host":      {[]businessCard{on("a", two), on("b", alone), on("b", alone), on("b", alone)}, 3},
		"hosts don't share":    {[]businessCard{on("a", alone), on("b", alone)}, 1},
		"nobody knows of them": {[]businessCard{on("a", cores{})}, 1},
	} {
		world := make([]int32, len(x.businessCards))
		for i := range world {
			world[i] = int32(i)
		}
		if got := (&job{businessCards: x.businessCards}).crowd(world); got != x.want {
			t.Errorf("%s: %d ranks share a core, not %d", name, got, x.want)
		}
	}
}

func TestTurns(t *testing.T) {
	two := cores{count: 2, mask: 3}
	j := &job{businessCards: []businessCard{{host: "a", cores: two}, {host: "b", cores: two}, {host: "b", cores: two}, {host: "b", cores: two}}}
	for rank, want := range []int{1, 2, 2, 2} {
		if got := j.turns(rank); got != want {
			t.Errorf("rank %d takes turns among %d, want %d", rank, got, want)
		}
	}
}

func TestCoreLists(t *testing.T) {
	for list, want := range map[string]int{"0": 1, "0-1": 2, "0,4-6,9": 5, "": 7, "x": 7, "3-1": 7} {
		c := cores{count: 7}
		if c.take(list); int(c.count) != want {
			t.Errorf("%q: %d cores, not %d", list, c.count, want)
		}
	}
	var a, b cores
	if a.take("0"); a.mask == b.mask {
		t.Error("one core looks like none")
	}
	if b.take("1"); a.mask == b.mask {
		t.Error("two cores look alike")
	}
	if own := ownCores(false); own.count == 0 {
		t.Error("this process runs nowhere")
	}
}
