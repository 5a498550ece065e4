package main

import (
	"encoding/json"
	"fmt"
	"io"

	"gomx/bench/pingpong"
	"gomx/bench/plot"
	"gomx/mx"
)

// printer prints results as they come.
type printer struct {
	pingpong.Watcher
	picture string
	points  []plot.Point
	name    string
}

func (o *options) newPrinter(w io.Writer) *printer {
	p := &printer{picture: o.picture, name: o.setup.Transport}
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
	return plot.Draw(p.picture, []plot.Series{{Name: "gomx, " + p.name, Points: p.points}})
}

// newTable prints MX's table.
func (o *options) newTable(w io.Writer) pingpong.Watcher {
	head := "   Length   Latency(us)    Bandwidth(MB/s)"
	if o.plan.Window > 0 {
		head = "   Length   Rate(Mmsg/s)   Bandwidth(MB/s)"
	}
	if o.plan.Unexpected > 0 {
		head += "    Unexpected(us/msg)"
	}
	prelude := o.prelude(mx.PeerInfo{})
	return pingpong.Watcher{
		Met: func(way mx.PeerInfo) { prelude = o.prelude(way) },
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

func tableRow(r pingpong.Result) string {
	figure := r.Rate
	if r.Latency != nil {
		figure = r.Latency.P50
	}
	row := fmt.Sprintf("%9d   %9.3f       %8.3f", r.Length, figure, r.Bandwidth)
	if r.Unexpected > 0 {
		row += fmt.Sprintf("           %9.3f", r.UnexpectedUs)
	}
	return row
}

// prelude says what is about to be measured, and over what, if the library chose it.
func (o *options) prelude(way mx.PeerInfo) string {
	what := "Running"
	if o.plan.Iterations > 0 {
		what += fmt.Sprintf(" %d iterations", o.plan.Iterations)
	}
	switch o.setup.Transport {
	case "self":
		what += " of an endpoint with itself"
	case "mem":
		what += " between two goroutines"
	default:
		over := o.setup.Transport
		if o.setup.LeavesOpen() {
			over = way.Transport
		}
		what += " between two processes over " + over
		if o.setup.Host != "" {
			what += ", the other on " + o.setup.Host
		}
	}
	if c := o.setup.Cores; len(c) == 2 && o.setup.Host == "" && o.setup.Transport != "self" {
		what += fmt.Sprintf(", on cores %d and %d", c[0], c[1])
	}
	what += "."
	if way.Instead != "" {
		what += "\nNot over a preferred transport: " + way.Instead + "."
	}
	return what
}
