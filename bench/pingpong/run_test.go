package pingpong_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"gomx/bench/pingpong"
	"gomx/internal/testlength"
	"gomx/mx"
)

func place(transport string) pingpong.Setup {
	return pingpong.Setup{
		Transport: transport, Board: mx.AnyNIC, Endpoint: mx.AnyEndpoint, RemoteEndpoint: mx.AnyEndpoint,
		Filter: pingpong.DefaultFilter, Spin: pingpong.LibrarySpin, Patience: mx.Infinite,
	}
}

func gather(results *[]pingpong.Result) pingpong.Watcher {
	return pingpong.Watcher{
		Began:  func() error { return nil },
		Result: func(r pingpong.Result) error { *results = append(*results, r); return nil },
	}
}

func TestRunInside(t *testing.T) {
	lengths := []int{0, 1, 8, 1000, 100_000}
	for name, p := range map[string]pingpong.Plan{
		"plain":  {Iterations: 30, Warmup: 2},
		"verify": {Iterations: 30, Warmup: 0, Verify: true},
		"window": {Iterations: 10, Warmup: 1, Window: 7, Verify: true},
		"queues": {Iterations: 10, Warmup: 1, Posted: 50, Unexpected: 60, Verify: true},
		"sync":   {Iterations: 10, Warmup: 1, Sync: true, Alloc: true, Verify: true, Unexpected: 3},
		"each":   {Iterations: 200, Warmup: 1, Histogram: true},
		"put":    {Iterations: 30, Warmup: 2, OneSided: pingpong.Put},
		"get":    {Iterations: 30, Warmup: 2, OneSided: pingpong.Get, Histogram: true},
	} {
		for _, transport := range []string{"self", "mem"} {
			t.Run(transport+"/"+name, func(t *testing.T) {
				p.Lengths = lengths
				var results []pingpong.Result
				if err := pingpong.Run(t.Context(), place(transport), &p, gather(&results)); err != nil {
					t.Fatal(err)
				}
				if len(results) != len(lengths) {
					t.Fatalf("%d results", len(results))
				}
				for i, r := range results {
					check(t, r, lengths[i], transport, &p)
				}
			})
		}
	}
}

func check(t *testing.T, r pingpong.Result, length int, transport string, p *pingpong.Plan) {
	t.Helper()
	windowed := p.Window > 0
	switch {
	case r.Length != length, r.Transport != transport, r.Iterations != p.Iterations,
		r.Window != p.Window, r.Posted != p.Posted, r.Unexpected != p.Unexpected:
		t.Errorf("length %d: not as asked for: %+v", length, r)
	case r.OneSided != p.OneSided, (len(r.Percentiles) > 0) != (p.Histogram && p.Iterations >= 2), (len(r.Histogram) > 0) != p.Histogram:
		t.Errorf("length %d: not of what was asked for: %+v", length, r)
	case (r.Latency == nil) != windowed, (r.Rate > 0) != windowed, (r.Bandwidth > 0) != (length > 0), (r.UnexpectedUs > 0) != (p.Unexpected > 0):
		t.Errorf("length %d: figures are missing or don't apply: %+v", length, r)
	case r.Latency != nil && !(0 < r.Latency.Min && r.Latency.Min <= r.Latency.P50 && r.Latency.P50 <= r.Latency.Max):
		t.Errorf("length %d: %+v", length, *r.Latency)
	}
}

func TestLoopsDoNotAllocate(t *testing.T) {
	objects := func(iterations int) uint64 {
		var before, after runtime.MemStats
		p := pingpong.Plan{Lengths: []int{8}, Iterations: iterations, Warmup: 0}
		var results []pingpong.Result
		runtime.ReadMemStats(&before)
		if err := pingpong.Run(t.Context(), place("self"), &p, gather(&results)); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	objects(100)
	few, many := objects(100), objects(20_100)
	if many > few+2000 {
		t.Errorf("20000 more round trips made %d more objects", many-few)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	for _, transport := range []string{"self", "mem"} {
		for _, single := range []bool{false, true} {
			why := errors.New("enough")
			ctx, cancel := context.WithCancelCause(t.Context())
			p := pingpong.Plan{Lengths: []int{8}, Iterations: pingpong.MaxCount, Warmup: 0}
			w := gather(new([]pingpong.Result))
			w.Began = func() error { time.AfterFunc(time.Millisecond, func() { cancel(why) }); return nil }
			at := place(transport)
			at.Single = single
			if err := pingpong.Run(ctx, at, &p, w); !errors.Is(err, why) {
				t.Errorf("%s, single %v: %v", transport, single, err)
			}
		}
	}
}

func TestRunEndsWithItsWatcher(t *testing.T) {
	testlength.Long(t)
	for _, transport := range []string{"self", "mem"} {
		full := errors.New("disk full")
		p := pingpong.Plan{Lengths: []int{8, 9}, Iterations: 10, Warmup: 0}
		w := gather(new([]pingpong.Result))
		w.Result = func(pingpong.Result) error { return full }
		if err := pingpong.Run(t.Context(), place(transport), &p, w); !errors.Is(err, full) {
			t.Errorf("%s: %v", transport, err)
		}
	}
}

func TestResolve(t *testing.T) {
	auto := place(pingpong.Auto)
	if err := auto.Resolve(); err != nil || auto.Transport == pingpong.Auto {
		t.Errorf("auto became %q, %v", auto.Transport, err)
	}
	other := place("pigeon")
	if err := other.Resolve(); err == nil || !strings.Contains(err.Error(), "mem") {
		t.Errorf("%v does not say what can be used", err)
	}
	far := place("mem")
	far.Host = "localhost"
	if err := far.Resolve(); err == nil {
		t.Error("mem to a host: no error")
	}
}

func TestPlanThatCannotBe(t *testing.T) {
	for _, p := range []pingpong.Plan{
		{}, {Lengths: []int{-1}}, {Lengths: []int{pingpong.MaxLength + 1}},
		{Lengths: []int{1}, Window: pingpong.MaxWindow + 1}, {Lengths: []int{1}, Posted: -1},
		{Lengths: []int{9}, OneSided: pingpong.Atomic}, {Lengths: []int{2048}, OneSided: pingpong.Atomic}, {Lengths: []int{0}, OneSided: pingpong.Atomic},
		{Lengths: []int{8}, OneSided: "swap"}, {Lengths: []int{8}, OneSided: pingpong.Put, Verify: true}, {Lengths: []int{8}, OneSided: pingpong.Get, Window: 4},
		{Lengths: []int{8}, Window: 4, Histogram: true}, {Lengths: []int{8}, Stream: true}, {Lengths: []int{8}, Both: true},
		{Lengths: []int{8}, Stream: true, Window: 4, Posted: 1}, {Lengths: []int{pingpong.MaxLength}, Stream: true, Window: 8, Both: true},
		{Lengths: []int{1}, Unexpected: pingpong.MaxParked + 1}, {Lengths: []int{1}, Iterations: -1}, {Lengths: []int{1}, Warmup: -2},
	} {
		if err := p.Check(); err == nil {
			t.Errorf("%+v: no error", p)
		}
		if err := pingpong.Run(t.Context(), place("self"), &p, gather(new([]pingpong.Result))); err == nil {
			t.Errorf("%+v: it ran", p)
		}
	}
}
