// Package stats turns the samples of a benchmark into the few numbers worth
// printing.
//
// It knows nothing about clocks, messages or units: a sample is a float64 in
// whatever unit the caller measures. Every function is pure and may be called
// by any number of goroutines; none of them keeps or reorders the slice it is
// given.
package stats
