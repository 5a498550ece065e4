package main

import (
	"encoding/csv"
	"io"
	"strconv"

	"gomx/bench/pingpong"
	"gomx/bench/stats"
)

var csvNames = []string{
	"transport", "length", "iterations", "window",
	"latency_us_min", "latency_us_p50", "latency_us_mean", "latency_us_p99", "latency_us_max", "latency_us_stddev",
	"bandwidth_MBps", "rate_Mmsgps", "posted", "unexpected", "unexpected_us_per_msg",
	"one_sided",
}

// newCSV prints a line of names. A figure that doesn't apply is an empty field.
func newCSV(w io.Writer) pingpong.Watcher {
	out := csv.NewWriter(w)
	write := func(fields []string) error {
		if err := out.Write(fields); err != nil {
			return err
		}
		out.Flush()
		return out.Error()
	}
	return pingpong.Watcher{
		Began: func() error {
			names := csvNames
			for _, p := range stats.PercentileNames() {
				names = append(names, "each_us_"+p)
			}
			return write(names)
		},
		Result: func(r pingpong.Result) error { return write(csvRow(r)) },
	}
}

func csvRow(r pingpong.Result) []string {
	row := []string{r.Transport, strconv.Itoa(r.Length), strconv.Itoa(r.Iterations), csvField(float64(r.Window))}
	latency := stats.Summary{}
	if r.Latency != nil {
		latency = *r.Latency
	}
	for _, v := range []float64{latency.Min, latency.P50, latency.Mean, latency.P99, latency.Max} {
		row = append(row, csvField(v))
	}
	if r.Latency != nil {
		row = append(row, strconv.FormatFloat(latency.Stddev, 'f', -1, 64))
	} else {
		row = append(row, "")
	}
	for _, v := range []float64{r.Bandwidth, r.Rate, float64(r.Posted), float64(r.Unexpected), r.UnexpectedUs} {
		row = append(row, csvField(v))
	}
	row = append(row, string(r.OneSided))
	return append(row, percentileFields(r, -1)...)
}

func csvField(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
