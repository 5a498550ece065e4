package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"gomx/mx/trace"
)

// printReport prints the report for people.
func printReport(to io.Writer, rep *trace.Report, pairs int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d traces, %v from the first event to the last\n", len(rep.Ranks), short(rep.Duration))
	total := rep.Path.To - rep.Path.From
	switch {
	case rep.Path.Holder != "":
		fmt.Fprintf(&b, "%s holds up the others\n", rep.Path.Holder)
	case len(rep.Ranks) > 1:
		b.WriteString("no rank alone holds up the others\n")
	}
	b.WriteByte('\n')
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tsent\treceived\tunexpected\twaits\twaited\tfor late ones\theld others\ton critical path\t")
	for i := range rep.Ranks {
		r := &rep.Ranks[i]
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%v\t%v\t%v\t%v %s\t\n", r.Name, r.Sent, r.Received, r.Unexpected, r.Waits,
			short(r.Waited), short(r.Behind), short(r.Held), short(r.OnPath), percent(r.OnPath, total))
	}
	w.Flush()
	fmt.Fprintf(&b, "\ncritical path: %v, %s of it messages on their way; it changes ranks %d times\n", short(total), percent(rep.Path.Waits, total), rep.Path.Hops)
	if len(rep.Late) > 0 {
		b.WriteString("\nwho has waited for whom:\n")
		w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for i := range rep.Late[:min(pairs, len(rep.Late))] {
			l := &rep.Late[i]
			fmt.Fprintf(w, "  %s\t%s\t%s\t%v\tin %d waits\n", l.Waiter, l.How, l.For, short(l.Time), l.Waits)
		}
		w.Flush()
		if more := len(rep.Late) - pairs; more > 0 {
			fmt.Fprintf(&b, "  and %d pairs more\n", more)
		}
	}
	printWindows(&b, rep)
	printDoubts(&b, rep)
	_, err := io.WriteString(to, b.String())
	return err
}

// printWindows prints what ranks have done with windows, if any has.
func printWindows(b *strings.Builder, rep *trace.Report) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	some := false
	for i := range rep.Ranks {
		r := &rep.Ranks[i]
		if r.Puts+r.Gets+r.Atomics+r.Served == 0 {
			continue
		}
		if !some {
			b.WriteByte('\n')
			fmt.Fprintln(w, "windows\tputs\tgets\tatomics\trefused\tuntil answered\tserved\t")
			some = true
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%v\t%d\t\n", r.Name, r.Puts, r.Gets, r.Atomics, r.Refused, short(r.Accessing), r.Served)
	}
	w.Flush()
}

// printDoubts prints what makes the report less certain, or covers less.
func printDoubts(b *strings.Builder, rep *trace.Report) {
	var lines []string
	for i := range rep.Clocks {
		switch c := &rep.Clocks[i]; {
		case i == 0:
		case c.Note != "":
			lines = append(lines, fmt.Sprintf("%s: %s", c.Name, c.Note))
		default:
			lines = append(lines, fmt.Sprintf("%s: aligned by messages, %v either way uncertain", c.Name, short(c.Uncertainty)))
		}
	}
	for i := range rep.Ranks {
		r := &rep.Ranks[i]
		if r.Lost > 0 {
			lines = append(lines, fmt.Sprintf("%s: %d earlier events were overwritten; MX_TRACE_BYTES raises the limit", r.Name, r.Lost))
		}
		if !r.Closed {
			lines = append(lines, fmt.Sprintf("%s: its endpoint was not closed: process %d runs still, or has died", r.Name, r.PID))
		}
	}
	if len(lines) > 0 {
		b.WriteString("\n" + strings.Join(lines, "\n") + "\n")
	}
}

// short rounds a time to what people read.
func short(ns int64) time.Duration {
	d := time.Duration(ns)
	switch {
	case d >= time.Second:
		return d.Round(time.Millisecond)
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond)
	case d >= time.Microsecond:
		return d.Round(10 * time.Nanosecond)
	}
	return d
}

func percent(part, of int64) string {
	if of <= 0 {
		return "-"
	}
	return fmt.Sprintf("%d %%", (100*part+of/2)/of)
}

// mostListed is how many ranks, files or groups are listed for people.
const mostListed = 8

// list writes ranks for people: the first few.
func list(ranks []int) string {
	var words []string
	for _, n := range ranks {
		words = append(words, fmt.Sprintf("rank %d", n))
	}
	return firstOf(words, ", ")
}

// groups writes the files of the first groups that have exchanged nothing.
func groups(t *trace.Trace) string {
	var words []string
	for _, g := range t.Apart {
		words = append(words, firstOf(t.Paths(g), ", "))
	}
	return firstOf(words, " | ")
}

// firstOf writes the first few words of a list, and how many more there are.
func firstOf(words []string, between string) string {
	if more := len(words) - mostListed; more > 0 {
		words = append(words[:mostListed:mostListed], fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, between)
}
