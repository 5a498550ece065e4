package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Summary describes a set of samples, in the samples' own unit. Its JSON form
// leaves N out, because the programs that print it name their count themselves.
type Summary struct {
	N      int     `json:"-"`
	Min    float64 `json:"min"`
	P50    float64 `json:"p50"`
	Mean   float64 `json:"mean"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
	Stddev float64 `json:"stddev"`
}

// Summarize describes samples. P50 is the Median, P99 the smallest sample that
// at least 99 % of them don't exceed, Stddev the sample standard deviation (0
// for a single sample). No samples give the zero Summary. A NaN among the
// samples makes every field but N a NaN.
func Summarize(samples []float64) Summary {
	if len(samples) == 0 {
		return Summary{}
	}
	sorted := slices.Sorted(slices.Values(samples))
	if math.IsNaN(sorted[0]) {
		nan := math.NaN()
		return Summary{N: len(samples), Min: nan, P50: nan, Mean: nan, P99: nan, Max: nan, Stddev: nan}
	}
	mean, stddev := sorted[0], 0.0
	if len(sorted) > 1 {
		mean, stddev = stat.MeanStdDev(sorted, nil)
	}
	return Summary{
		N:      len(sorted),
		Min:    sorted[0],
		P50:    middle(sorted),
		Mean:   mean,
		P99:    stat.Quantile(0.99, stat.Empirical, sorted, nil),
		Max:    sorted[len(sorted)-1],
		Stddev: stddev,
	}
}

// Median is the middle sample, or the mean of the two middle ones. It is NaN
// if there are no samples or one of them is NaN.
func Median(samples []float64) float64 {
	if len(samples) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(samples))
	if math.IsNaN(sorted[0]) {
		return math.NaN()
	}
	return middle(sorted)
}

// Ratio is a/b, or NaN where that says nothing: b is 0, or either of them is
// NaN or infinite. Callers print a NaN as "no answer", never as a number.
func Ratio(a, b float64) float64 {
	r := a / b
	if b == 0 || math.IsInf(a, 0) || math.IsInf(b, 0) {
		return math.NaN()
	}
	return r
}

// middle wants sorted samples, NaN-free and at least one. gonum's quantiles
// never average the two middle samples of an even count, hence this.
func middle(sorted []float64) float64 {
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return sorted[half-1] + (sorted[half]-sorted[half-1])/2
}
