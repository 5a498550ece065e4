package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gomx/bench/machine"
	"gomx/bench/pingpong"
	"gomx/bench/plot"
	"gomx/bench/stats"
	"gomx/mx"
)

// printer prints results as they come.
type printer struct {
	pingpong.Watcher
	picture string
	points  []plot.Point
	name    string
	caption plot.Caption
}

func (o *options) newPrinter(w io.Writer) *printer {
	p := &printer{picture: o.picture, name: o.at.Setup.Transport, caption: o.caption()}
	switch {
	case o.asJSON:
		p.Watcher = newJSON(w)
	case o.asCSV:
		p.Watcher = newCSV(w)
	default:
		p.Watcher = o.newTable(w)
	}
	if o.picture != "" {
		print := p.Result
		p.Result = func(r pingpong.Result) error {
			p.points = append(p.points, plot.Point{Length: r.Length, LatencyUs: r.Latency.P50, BandwidthMBps: r.Bandwidth})
			return print(r)
		}
	}
	return p
}

// caption is what stands above the picture.
func (o *options) caption() plot.Caption {
	return plot.Caption{
		Title: "A message there and back between two endpoints of package mx",
		Notes: []string{strings.TrimPrefix(o.at.Prelude(o.plan.Iterations, o.what(), mx.PeerInfo{}), "Running ") + " Medians over batches.", machine.Origin()},
	}
}

// newJSON prints one object a line.
func newJSON(w io.Writer) pingpong.Watcher {
	encoder := json.NewEncoder(w)
	return pingpong.Watcher{
		Began:  func() error { return nil },
		Result: func(r pingpong.Result) error { return encoder.Encode(r) },
	}
}

// finish draws the picture, if one was asked for.
func (p *printer) finish() error {
	if p.picture == "" {
		return nil
	}
	return plot.Draw(p.picture, p.caption, []plot.Series{{Name: "gomx, " + p.name, Points: p.points}})
}

// newTable prints MX's table.
func (o *options) newTable(w io.Writer) pingpong.Watcher {
	head := "   Length   Latency(us)    Bandwidth(MB/s)"
	if o.plan.Window > 0 {
		head = "   Length   Rate(Mmsg/s)   Bandwidth(MB/s)"
	}
	if o.plan.Histogram {
		head = fmt.Sprintf("   Length      Count %s", columns(append(stats.PercentileNames(), "max(us)")))
	}
	if o.plan.Unexpected > 0 {
		head += "    Unexpected(us/msg)"
	}
	prelude := o.at.Prelude(o.plan.Iterations, o.what(), mx.PeerInfo{})
	return pingpong.Watcher{
		Reached: func(way mx.PeerInfo) { prelude = o.at.Prelude(o.plan.Iterations, o.what(), way) },
		Began: func() error {
			_, err := fmt.Fprintf(w, "%s\n%s\n", prelude, head)
			return err
		},
		Result: func(r pingpong.Result) error {
			_, err := fmt.Fprintln(w, tableRow(r))
			return err
		},
	}
}

// what names the operations that are measured, if they are no messages.
func (o *options) what() string {
	if o.plan.OneSided == pingpong.NoOneSided {
		return ""
	}
	return string(o.plan.OneSided) + "s"
}

// columns aligns the figures of a histogram.
func columns(fields []string) string {
	var row strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&row, " %9s", f) // a blank, however long the field is
	}
	return row.String()
}

// percentiles are the fields for those that there can be, and the maximum. One that would be the maximum is "-".
func percentiles(r pingpong.Result) []string {
	fields := percentileFields(r, 3)
	for i, f := range fields {
		if f == "" {
			fields[i] = "-"
		}
	}
	return append(fields, fmt.Sprintf("%.3f", r.Latency.Max))
}

// percentileFields are the percentiles with so many digits behind the point, or -1: all. One that is not known is "".
func percentileFields(r pingpong.Result, digits int) []string {
	fields := make([]string, len(stats.PercentileNames()))
	for i, p := range r.Percentiles {
		fields[i] = strconv.FormatFloat(p.Value, 'f', digits, 64)
	}
	return fields
}

func tableRow(r pingpong.Result) string {
	figure := r.Rate
	if r.Latency != nil {
		figure = r.Latency.P50
	}
	row := fmt.Sprintf("%9d   %9.3f       %8.3f", r.Length, figure, r.Bandwidth)
	if r.Histogram != nil {
		row = fmt.Sprintf("%9d %10d %s", r.Length, r.Iterations, columns(percentiles(r)))
	}
	if r.Unexpected > 0 {
		row += fmt.Sprintf("           %9.3f", r.UnexpectedUs)
	}
	return row
}
