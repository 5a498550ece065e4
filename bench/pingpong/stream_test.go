package pingpong_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"gomx/bench/pingpong"
)

func TestStream(t *testing.T) {
	for name, p := range map[string]pingpong.Plan{
		"one way":   {Iterations: 100, Warmup: 5, Window: 16, Stream: true, Verify: true},
		"both ways": {Iterations: 100, Warmup: 5, Window: 16, Stream: true, Both: true, Verify: true, Sync: true},
		"few":       {Iterations: 3, Window: 16, Stream: true, Both: true},
		"one":       {Iterations: 50, Window: 1, Stream: true, Both: true, Verify: true, Alloc: true},
	} {
		t.Run(name, func(t *testing.T) {
			p.Lengths = []int{0, 8, 70_000}
			var results []pingpong.Result
			if err := pingpong.Run(t.Context(), place("mem"), &p, gather(&results)); err != nil {
				t.Fatal(err)
			}
			if len(results) != 3 {
				t.Fatalf("%d results", len(results))
			}
			for i, r := range results {
				if r.Length != p.Lengths[i] || r.Iterations != p.Iterations || r.Window != p.Window || r.Send == nil || (r.Receive != nil) != p.Both {
					t.Errorf("not as asked for: %+v", r)
				}
				if r.Rate <= 0 || r.Send.Rate <= 0 || (r.Length > 0) != (r.Send.Bandwidth > 0) || p.Both && r.Rate*1e6 <= r.Send.Rate {
					t.Errorf("figures are missing: %+v, %+v", r, *r.Send)
				}
			}
		})
	}
}

func TestStreamToOneself(t *testing.T) {
	p := pingpong.Plan{Lengths: []int{8}, Iterations: 3, Window: 4, Stream: true}
	if err := pingpong.Run(t.Context(), place("self"), &p, gather(new([]pingpong.Result))); err == nil {
		t.Error("no error")
	}
}

func TestStreamEndsWithItsContext(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	p := pingpong.Plan{Lengths: []int{8}, Iterations: pingpong.MaxCount, Window: 4, Stream: true, Both: true}
	w := gather(new([]pingpong.Result))
	w.Began = func() error { time.AfterFunc(time.Millisecond, func() { cancel(why) }); return nil }
	if err := pingpong.Run(ctx, place("mem"), &p, w); !errors.Is(err, why) {
		t.Error(err)
	}
}
