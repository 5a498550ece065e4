package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gomx/cmd/internal/processes"
	"gomx/mx"
)

// value is a counter and its place in the list, which is always the same for counters of endpoints.
type value struct {
	Place int `json:"place"`
	mx.Counter
}

// block is the counters of one thing.
type block struct {
	Title    string    `json:"title"`
	Since    time.Time `json:"since,omitzero"` // when they were cleared
	Counters []value   `json:"counters"`

	board, rank uint64 // order of printing
}

// collect makes blocks of what was read: of boards or endpoints, and of what is built on them.
func collect(readings []*mx.LiveReading, o *options) []block {
	list := []block{}
	boards := map[string]int{}
	for _, r := range readings {
		for i := range r.Endpoints {
			ep := &r.Endpoints[i]
			if o.board >= 0 && int64(ep.Board) != o.board {
				continue
			}
			values, since := sinceCleared(ep, r.Cleared[ep.Name])
			title := fmt.Sprintf("%s (board #%d name %s)", r.Host, ep.Board, ep.Interface)
			if o.each {
				list = append(list, block{Title: fmt.Sprintf("%s endpoint %s (pid %d, %s)", title, ep.FullID(), r.PID, processes.Clean(r.Command)), Since: since,
					Counters: values, board: uint64(ep.Board), rank: uint64(ep.ID) + 1})
				continue
			}
			at, known := boards[title]
			if !known {
				boards[title] = len(list)
				list = append(list, block{Title: title, Since: since, Counters: values, board: uint64(ep.Board)})
				continue
			}
			list[at].add(values, since)
		}
		if o.above && o.board < 0 {
			list = append(list, above(r)...)
		}
	}
	slices.SortStableFunc(list, func(a, b block) int { return cmp.Or(cmp.Compare(a.board, b.board), cmp.Compare(a.rank, b.rank)) })
	return list
}

// sinceCleared returns the counters of an endpoint, less what they were when they were cleared.
func sinceCleared(ep *mx.EndpointSnapshot, c mx.ClearedCounters) (list []value, since time.Time) {
	for i, counter := range ep.Counters {
		if len(c.Values) == len(ep.Counters) && counter.Value >= c.Values[i] {
			counter.Value -= c.Values[i]
		}
		list = append(list, value{i, counter})
	}
	return list, c.At
}

// add adds the counters of another endpoint. The sum is since the first clearing, or since ever if one was not cleared.
func (b *block) add(values []value, since time.Time) {
	if len(values) != len(b.Counters) {
		return // another version of gomx
	}
	for i := range values {
		b.Counters[i].Value += values[i].Value
	}
	if since.Before(b.Since) {
		b.Since = since
	}
}

// above returns the counters of what is built on endpoints.
func above(r *mx.LiveReading) (list []block) {
	for _, g := range r.Groups {
		title := fmt.Sprintf("%s of process %d, %s:", processes.Clean(g.Layer), r.PID, processes.Clean(r.Command))
		for _, l := range g.Labels {
			title += fmt.Sprintf(" %s %s", processes.Clean(l.Name), cmp.Or(processes.Clean(l.Value), "-"))
		}
		b := block{Title: title, board: ^uint64(0)}
		for i, c := range g.Counters {
			b.Counters = append(b.Counters, value{i, c})
		}
		list = append(list, b)
	}
	return list
}

func printAll(to io.Writer, list []block, before map[string][]value, o *options) error {
	var b strings.Builder
	if o.every > 0 {
		fmt.Fprintf(&b, "%s\n", time.Now().Format("15:04:05.000"))
	}
	if len(list) == 0 {
		b.WriteString("no endpoint is open\n")
	}
	for i := range list {
		list[i].print(&b, before[list[i].Title], o)
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// print prints a block, and with what was before what has come since.
func (b *block) print(to *strings.Builder, before []value, o *options) {
	fmt.Fprintf(to, "%s\n%s\n", b.Title, processes.Rule)
	if !b.Since.IsZero() {
		fmt.Fprintf(to, "since %s\n", b.Since.Local().Format("2006-01-02 15:04:05"))
	}
	for i, c := range b.Counters {
		if c.Value == 0 && !o.verbose {
			continue
		}
		fmt.Fprintf(to, "%03d: %12d ", c.Place, c.Value)
		if o.every > 0 {
			grown := "-"
			if i < len(before) && before[i].Name == c.Name && c.Kind == mx.Cumulative && c.Value >= before[i].Value {
				grown = fmt.Sprintf("+%d", c.Value-before[i].Value)
			}
			fmt.Fprintf(to, "%12s ", grown)
		}
		fmt.Fprintf(to, "%s\n", processes.Clean(c.Label))
	}
	to.WriteByte('\n')
}
