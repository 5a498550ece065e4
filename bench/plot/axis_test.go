package plot

import (
	"math"
	"slices"
	"strings"
	"testing"

	gonum "gonum.org/v1/plot"
)

func labels(ticks []gonum.Tick) string {
	var words []string
	for _, tick := range ticks {
		if tick.Label != "" {
			words = append(words, tick.Label)
		}
	}
	return strings.Join(words, ", ")
}

func latencyOf(p Point) float64 { return p.LatencyUs }

func points(lengths ...int) []Series {
	var s Series
	for _, length := range lengths {
		s.Points = append(s.Points, Point{Length: length, LatencyUs: 1})
	}
	return []Series{s}
}

// TestNumberTicks wants 2 and 5 times the powers of ten to be labelled where there are few powers, and numbers are narrow.
func TestNumberTicks(t *testing.T) {
	for _, c := range []struct {
		lowest, highest float64
		want            string
	}{
		{1.5, 300, "2, 5, 10, 20, 50, 100, 200"},
		{0.9, 1500, "1, 10, 100, 1,000"},
		{900, 150_000, "1,000, 10,000, 100,000"},
	} {
		if got := labels(decades(math.Log(c.lowest), math.Log(c.highest))); got != c.want {
			t.Errorf("from %v to %v: %s, want %s", c.lowest, c.highest, got, c.want)
		}
	}
}

func TestSizeTicks(t *testing.T) {
	for _, c := range []struct {
		lengths []int
		want    string
	}{
		{[]int{0, 8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 2 << 20}, "0 B, 8 B, 64 B, 512 B, 4 KiB, 32 KiB, 256 KiB, 2 MiB"},
		{[]int{8, 512}, "8 B, 64 B, 512 B"},
		{[]int{0, 1, 2, 4 << 20}, "0 B, 1 B, 8 B, 64 B, 512 B, 4 KiB, 32 KiB, 256 KiB, 2 MiB"},
		{[]int{16 << 20, 1 << 30}, "16 MiB, 128 MiB, 1 GiB"},
		{[]int{1, 1 << 30}, "1 B, 64 B, 4 KiB, 256 KiB, 16 MiB, 1 GiB"},
		{[]int{0}, "0 B"},
	} {
		s := sizeScale(points(c.lengths...), latencyOf)
		if got := labels(s.ticks()); got != c.want {
			t.Errorf("lengths %v: ticks %q, want %q", c.lengths, got, c.want)
		}
	}
}

func TestZeroStandsLeftOfEverySize(t *testing.T) {
	s := sizeScale(points(0, 8, 64), latencyOf)
	if !(s.lowest < s.place(0) && s.place(0) < s.place(8)) {
		t.Errorf("0 stands at %v, the axis begins at %v, 8 stands at %v", s.place(0), s.lowest, s.place(8))
	}
}

func TestValueScale(t *testing.T) {
	for _, c := range []struct {
		values          []float64
		lowest, highest float64
		labels          string
	}{
		{[]float64{0.15, 196}, 0.1, 500, "0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500"},
		{[]float64{3}, 2, 5, "2, 5"},
		{[]float64{0.001, 900000}, 0.0005, 1e6, "0.001, 0.01, 0.1, 1, 10, 100, 1000, 10000, 100000, 1e+06"},
	} {
		var s Series
		for _, v := range c.values {
			s.Points = append(s.Points, Point{Length: 8, LatencyUs: v})
		}
		got := valueScale([]Series{s}, latencyOf)
		if !near(got.lowest, c.lowest) || !near(got.highest, c.highest) {
			t.Errorf("%v: from %v to %v, want %v to %v", c.values, got.lowest, got.highest, c.lowest, c.highest)
		}
		if l := labels(got.ticks()); l != c.labels {
			t.Errorf("%v: labels %q, want %q", c.values, l, c.labels)
		}
	}
}

func near(a, b float64) bool { return a > b*(1-1e-9) && a < b*(1+1e-9) }

func TestTicksAscend(t *testing.T) {
	for _, s := range []scale{sizeScale(points(0, 1, 1<<30), latencyOf), {lowest: 0.002, highest: 5000, mark: valueTicks}} {
		if !slices.IsSortedFunc(s.ticks(), func(a, b gonum.Tick) int {
			if a.Value < b.Value {
				return -1
			}
			return 1
		}) {
			t.Errorf("ticks out of order: %v", s.ticks())
		}
	}
}
