package coll_test

import (
	"slices"
	"strings"
	"testing"

	"gomx/mpi/internal/coll"
)

func TestChoiceIsOffered(t *testing.T) {
	for _, k := range coll.Kinds() {
		for ranks := 1; ranks <= 70; ranks++ {
			for crowd := 1; crowd <= 2; crowd++ {
				for _, bytes := range []int{0, 8, 4096, 1 << 20, 1 << 30} {
					for _, alike := range []bool{true, false} {
						a := coll.Choose(k, bytes, coll.Shape{Ranks: ranks, Crowd: crowd}, alike, nil)
						if !slices.Contains(coll.Offered(k), a) {
							t.Fatalf("%v of %d bytes among %d ranks by %v", k, bytes, ranks, a)
						}
					}
				}
			}
		}
	}
}

// parts are algorithms that only others are made of, for their own kind: Allreduce and Barrier by way of rank 0.
var parts = map[coll.Kind]coll.Algorithm{coll.KindBcast: coll.Flat, coll.KindReduce: coll.Flat}

// TestEveryAlgorithmIsTaken: what is never chosen is not worth having.
func TestEveryAlgorithmIsTaken(t *testing.T) {
	for _, k := range coll.Kinds() {
		taken := map[coll.Algorithm]bool{}
		for ranks := 1; ranks <= 300; ranks++ {
			for crowd := 1; crowd <= 2; crowd++ {
				for bytes := 0; bytes <= 1<<26; bytes = 2*bytes + 8 {
					for _, alike := range []bool{true, false} {
						taken[coll.Choose(k, bytes, coll.Shape{Ranks: ranks, Crowd: crowd}, alike, nil)] = true
					}
				}
			}
		}
		for _, a := range coll.Offered(k) {
			if !taken[a] && parts[k] != a {
				t.Errorf("%v is never done by %v", k, a)
			}
		}
	}
}

func TestOverrides(t *testing.T) {
	var o coll.Overrides
	if err := o.Parse(" allreduce=rabenseifner, bcast=flat,,barrier=tree "); err != nil {
		t.Fatal(err)
	}
	at := func(k coll.Kind, ranks int, alike bool) coll.Algorithm {
		return coll.Choose(k, 8, coll.Shape{Ranks: ranks, Crowd: 1}, alike, &o)
	}
	for k, want := range map[coll.Kind]coll.Algorithm{
		coll.KindAllreduce: coll.Rabenseifner, coll.KindBcast: coll.Flat, coll.KindBarrier: coll.Tree,
		coll.KindScan: coll.Choose(coll.KindScan, 8, coll.Shape{Ranks: 4, Crowd: 1}, true, nil),
	} {
		if got := at(k, 4, true); got != want {
			t.Errorf("%v by %v, not %v", k, got, want)
		}
	}
	if err := o.Parse("allreduce=automatic"); err != nil || at(coll.KindAllreduce, 4, true) == coll.Rabenseifner {
		t.Errorf("an override stays: %v", err)
	}
	if err := o.Parse("allgather=recursive-doubling,alltoall=bruck"); err != nil {
		t.Fatal(err)
	}
	if a := at(coll.KindAllgather, 6, true); a == coll.RecursiveDoubling {
		t.Error("recursive doubling among 6")
	}
	if a := at(coll.KindAlltoall, 8, false); a == coll.Bruck {
		t.Error("Bruck's algorithm with parts that differ")
	}
	if err := o.Parse("alltoall=gather-scatter"); err != nil {
		t.Fatal(err)
	}
	if a := at(coll.KindAlltoall, 8, false); a == coll.GatherScatter {
		t.Error("parts that differ are sorted at rank 0")
	}
}

func TestBadOverrides(t *testing.T) {
	for list, want := range map[string]string{
		"allreduce":        "operation=algorithm",
		"reduceall=ring":   "allreduce",
		"allreduce=linear": "rabenseifner",
		"bcast=":           "binomial",
	} {
		var o coll.Overrides
		if err := o.Parse(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, which doesn't mention %q", list, err, want)
		}
	}
}
