package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"gomx/bench/machine"
	"gomx/bench/plot"
)

// printer prints results as they come.
type printer struct {
	*options
	out, err io.Writer
	noisy    bool   // somebody looks at err, and nothing appears on out meanwhile
	last     string // series that was printed
	lines    []*line
}

// line is a series of the picture, with what was measured.
type line struct {
	name    string
	results []result
}

func (o *options) newPrinter(stdout, stderr io.Writer) *printer {
	return &printer{options: o, out: stdout, err: stderr, noisy: isTerminal(stderr) && !isTerminal(stdout)}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// begin is called before a point is measured.
func (p *printer) begin(i int, o *order) {
	if p.noisy {
		fmt.Fprintf(p.err, "%d of %d: %s\n", i+1, len(p.points), o.title())
	}
	if name := o.series(); len(p.lines) == 0 || p.lines[len(p.lines)-1].name != name {
		p.lines = append(p.lines, &line{name: name})
	}
}

// result is called with what was measured.
func (p *printer) result(r *result) error {
	l := p.lines[len(p.lines)-1]
	l.results = append(l.results, *r)
	if p.asJSON {
		return json.NewEncoder(p.out).Encode(r)
	}
	if p.last != l.name {
		p.last = l.name
		if err := p.head(l.name, r); err != nil {
			return err
		}
	}
	first, second := r.Throughput, r.Rate
	if r.Latency != nil {
		first, second = r.Latency.P50, r.Latency.P99
	}
	_, err := fmt.Fprintf(p.out, "%9d   %12.3f   %12.3f   %10.1f   %12.1f   %11.4f\n",
		r.Length, first, second, r.SenderCPU, r.ReceiverCPU, r.CPUPerByte)
	return err
}

func (p *printer) head(name string, r *result) error {
	names := "      MB/s         Mmsg/s"
	if r.Latency != nil {
		names = "Latency(us)       p99(us)"
	}
	over := ""
	if r.Mode != modeTCP {
		over = ", over " + r.Transport
	}
	_, err := fmt.Fprintf(p.out, "%s%s\n   Length   %s   Sender CPU%%   Receiver CPU%%   CPU ns/byte\n", name, over, names)
	return err
}

// finish draws the picture, if one was asked for.
func (p *printer) finish() error {
	if p.picture == "" {
		return nil
	}
	panel := func(title, unit string, value func(*result) float64) plot.Panel {
		f := plot.Panel{Title: title, Unit: unit}
		for _, l := range p.lines {
			s := plot.Series{Name: l.name}
			for i := range l.results {
				s.Points = append(s.Points, plot.Point{Length: l.results[i].Length, LatencyUs: value(&l.results[i])})
			}
			f.Series = append(f.Series, s)
		}
		return f
	}
	first := panel("Throughput", "MB/s", func(r *result) float64 { return r.Throughput })
	if p.latency {
		first = panel("One-way latency", "µs", func(r *result) float64 { return r.Latency.P50 })
	}
	return plot.DrawPanels(p.picture, p.caption(), plot.Bytes, []plot.Panel{
		first,
		panel("Processor time of the sender", "% of a core", func(r *result) float64 { return r.SenderCPU }),
		panel("Processor time of the receiver", "% of a core", func(r *result) float64 { return r.ReceiverCPU }),
	})
}

// caption is what stands above the picture.
func (p *printer) caption() plot.Caption {
	what := "Throughput and processor time of extended sockets"
	if p.latency {
		what = "Latency and processor time of extended sockets"
	}
	where := "two processes of this host"
	if p.host != "" {
		where = "with a server on " + p.host
	}
	if len(p.cores) == 2 && p.host == "" {
		where += fmt.Sprintf(", on cores %d and %d", p.cores[0], p.cores[1])
	}
	if p.sleep {
		where += ", which sleep while they wait"
	}
	return plot.Caption{Title: what + ", by message size", Notes: []string{strings.ToUpper(where[:1]) + where[1:] + ".", machine.Origin()}}
}
