package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"gomx/cmd/internal/processes"
	"gomx/mx"
)

// entry is an endpoint and whose it is.
type entry struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
	Host    string `json:"host"`
	mx.EndpointSnapshot
	age time.Duration
}

// collect returns the endpoints on a board, or with -1 on all, by board and id.
func collect(readings []*mx.LiveReading, board int64) []entry {
	list := []entry{}
	for _, r := range readings {
		for _, ep := range r.Endpoints {
			if board < 0 || int64(ep.Board) == board {
				list = append(list, entry{r.PID, r.Command, r.Host, ep, r.Taken.Sub(ep.Opened)})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Board, b.Board), cmp.Compare(a.Interface, b.Interface), cmp.Compare(a.ID, b.ID), cmp.Compare(a.PID, b.PID))
	})
	return list
}

func printAll(to io.Writer, list []entry, verbose bool) error {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Board == list[0].Board && list[n].Interface == list[0].Interface {
			n++
		}
		fmt.Fprintf(to, "%s (board #%d name %s)\n%s\n", list[0].Host, list[0].Board, list[0].Interface, processes.Rule)
		if err := printBoard(to, list[:n], verbose); err != nil {
			return err
		}
		what := "regular endpoints open"
		if n == 1 {
			what = "regular endpoint open"
		}
		fmt.Fprintf(to, "%d %s\n\n", n, what)
		list = list[n:]
		if len(list) == 0 {
			return nil
		}
	}
	_, err := fmt.Fprintln(to, "0 regular endpoints open")
	return err
}

func printBoard(to io.Writer, list []entry, verbose bool) error {
	w := tabwriter.NewWriter(to, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "endpoint\tpid\tpeers\tposted\tpending\tunexpected\topen for\t   transports\tcommand\t")
	for i := range list {
		e := &list[i]
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%v\t%s\t%s\t\n", e.FullID(), e.PID, linked(e), e.Depths.Posted, e.Depths.Pending, e.Depths.Unexpected,
			e.age.Round(time.Second), orNone(e.Transports), processes.Clean(e.Command))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if !verbose {
		return nil
	}
	for i := range list {
		printDetails(to, &list[i])
	}
	return nil
}

// linked returns how many peers there is a link to.
func linked(e *entry) (n int) {
	for _, p := range e.Peers {
		if p.Transport != "" && p.Failure == "" {
			n++
		}
	}
	return n
}

// orNone names the transports. Without any, an endpoint reaches itself alone.
func orNone(transports []string) string {
	if len(transports) == 0 {
		return "self"
	}
	return strings.Join(transports, ",")
}

// named is the name of a context behind its number, if it has one.
func named(context string) string {
	if context == "" {
		return ""
	}
	return fmt.Sprintf(" (context %s)", processes.Clean(context))
}

func printDetails(to io.Writer, e *entry) {
	fmt.Fprintf(to, "\nendpoint %s%s of process %d\n", e.FullID(), named(e.ContextName), e.PID)
	for _, p := range e.Peers {
		fmt.Fprintf(to, "    peer %s", p.Name)
		if p.Transport != "" {
			fmt.Fprintf(to, " over %s", p.Transport)
		}
		if p.Instead != "" {
			fmt.Fprintf(to, ", and not what is preferred: %s", processes.Clean(p.Instead))
		}
		if p.Failure != "" {
			fmt.Fprintf(to, ", no link: %s", processes.Clean(p.Failure))
		}
		fmt.Fprintln(to)
	}
	for _, p := range e.Pending {
		fmt.Fprintf(to, "    %s %s match %#x mask %#x, %d bytes: %s, for %v\n", p.Kind, cmp.Or(p.Peer, "anyone"), p.MatchInfo, p.MatchMask, p.Bytes, p.Stage,
			time.Duration(p.Age*float64(time.Second)).Round(time.Millisecond))
	}
	if more := e.Depths.Pending - len(e.Pending); more > 0 {
		fmt.Fprintf(to, "    and %d more requests\n", more)
	}
	for _, w := range e.Windows {
		fmt.Fprintf(to, "    window of %d bytes, %s: %d puts, %d gets, %d under way\n", w.Bytes, permitted(w), w.Puts, w.Gets, w.Busy)
	}
	if more := e.Depths.Windows - len(e.Windows); more > 0 {
		fmt.Fprintf(to, "    and %d more windows\n", more)
	}
}

func permitted(w mx.WindowInfo) string {
	switch {
	case w.Closed:
		return "closed"
	case !w.Read:
		return "for puts"
	case !w.Write:
		return "for gets"
	}
	return "for puts and gets"
}
