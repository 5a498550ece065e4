package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRankCommands(t *testing.T) {
	at := setting{cores: pin{2, 3}, timeout: time.Minute}
	two := job{medium: shm, quantity: ranksQuantity(2), ranks: 2, calls: collectives}
	eight := job{medium: shm, quantity: ranksQuantity(8), ranks: 8, calls: collectives}
	for _, x := range []struct {
		line       string
		has, lacks string
	}{
		{(&facade{folder: "f"}).command(two, at).String(), "mx_run -n 2 f/collective -calls barrier:0,", "oversubscribe"},
		{(&facade{folder: "f"}).command(two, at).String(), "-pin 2,3", "bind"},
		{(&facade{folder: "f"}).command(eight, at).String(), "-n 8", "-pin"},
		{knownMPIs(rig{})[0].command(two, at).String(), "--bind-to core -np 2 collective.openmpi -calls", "oversubscribe"},
		{knownMPIs(rig{})[0].command(eight, at).String(), "--bind-to none --oversubscribe -np 8", "-pin"},
		{knownMPIs(rig{})[1].command(eight, at).String(), "-bind-to none -np 8 collective.mpich", "-pin"},
	} {
		if !strings.Contains(x.line, x.has) || strings.Contains(x.line, x.lacks) {
			t.Errorf("%q has no %q, or has %q", x.line, x.has, x.lacks)
		}
	}
}

func TestPickCalls(t *testing.T) {
	j := job{quantity: ranksQuantity(4), ranks: 4, calls: []call{{"barrier", 0}, {"bcast", 8}}}
	good, err := parseRecords([]byte(`{"call":"bcast","length":8,"ranks":4,"latency_us":{"p50":2}}
{"call":"barrier","length":0,"ranks":4,"latency_us":{"p50":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	picked, err := pick(good, j)
	if err != nil || len(picked) != 2 || picked[0].Call != "barrier" || picked[1].value(j) != 2 {
		t.Errorf("picked %v, %v", picked, err)
	}
	other := slices.Clone(good)
	other[0].Ranks = 2
	for name, records := range map[string][]record{"missing": good[:1], "twice": append(good[:2:2], good[0]), "of others": other} {
		if _, err := pick(records, j); err == nil || !strings.Contains(err.Error(), "Bcast 8 B") && !strings.Contains(err.Error(), "Barrier") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
