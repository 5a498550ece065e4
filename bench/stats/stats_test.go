package stats_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"gomx/bench/stats"
)

func TestSummarize(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for _, c := range []struct {
		name    string
		samples []float64
		want    stats.Summary
	}{
		{"none", nil, stats.Summary{}},
		{"one", []float64{3}, stats.Summary{N: 1, Min: 3, P50: 3, Mean: 3, P99: 3, Max: 3}},
		{"odd", []float64{5, 1, 3}, stats.Summary{N: 3, Min: 1, P50: 3, Mean: 3, P99: 5, Max: 5, Stddev: 2}},
		{"even", []float64{4, 2}, stats.Summary{N: 2, Min: 2, P50: 3, Mean: 3, P99: 4, Max: 4, Stddev: math.Sqrt2}},
		{"hundred", hundred, stats.Summary{N: 100, Min: 1, P50: 50.5, Mean: 50.5, P99: 99, Max: 100, Stddev: 29.011491975882016}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := slices.Clone(c.samples)
			got := stats.Summarize(c.samples)
			if math.Abs(got.Stddev-c.want.Stddev) > 1e-12 {
				t.Errorf("Stddev = %v, want %v", got.Stddev, c.want.Stddev)
			}
			got.Stddev = c.want.Stddev
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if !slices.Equal(before, c.samples) {
				t.Error("the caller's samples were reordered")
			}
		})
	}
}

func TestSummaryJSON(t *testing.T) {
	got, err := json.Marshal(stats.Summarize([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"min":1,"p50":2,"mean":2,"p99":3,"max":3,"stddev":1}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		samples []float64
		want    float64
	}{
		{nil, math.NaN()},
		{[]float64{1, math.NaN()}, math.NaN()},
		{[]float64{2}, 2},
		{[]float64{9, 1, 4}, 4},
		{[]float64{9, 1, 4, 2}, 3},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, math.MaxFloat64},
	} {
		if got := stats.Median(c.samples); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("Median(%v) = %v, want %v", c.samples, got, c.want)
		}
	}
}

func TestRatio(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct{ a, b, want float64 }{
		{1, 2, 0.5}, {0, 2, 0}, {1, 0, nan}, {0, 0, nan}, {nan, 1, nan}, {1, nan, nan}, {inf, 1, nan}, {1, inf, nan},
	} {
		if got := stats.Ratio(c.a, c.b); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("Ratio(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func FuzzSummarize(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, 4.0)
	f.Add(-1.0, 0.0, 0.0, 1e300)
	f.Fuzz(func(t *testing.T, a, b, c, d float64) {
		samples := []float64{a, b, c, d}
		for _, v := range samples {
			if math.IsNaN(v) || math.Abs(v) > 1e300 {
				t.Skip("the sum of such samples is out of float64's range")
			}
		}
		s := stats.Summarize(samples)
		if !(s.Min <= s.P50 && s.P50 <= s.P99 && s.P99 <= s.Max) {
			t.Errorf("not in order: %+v", s)
		}
		if s.P50 != stats.Median(samples) {
			t.Errorf("P50 %v differs from Median %v", s.P50, stats.Median(samples))
		}
	})
}
