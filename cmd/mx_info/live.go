package main

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"gomx/cmd/internal/processes"
	"gomx/mx"
)

// liveEndpoint is an endpoint of a process that runs, as -live -json prints it.
type liveEndpoint struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
	mx.EndpointSnapshot
	age time.Duration
}

// showLive prints what is known of the endpoints that processes of this user have open. failed are those that can't be
// read.
func showLive(o *options, to io.Writer) (failed []error, err error) {
	readings, failed, err := processes.Read(o.pid, false)
	if err == nil && o.oneBoard {
		err = processes.OnBoard(int64(o.board), readings)
	}
	if err != nil {
		return failed, err
	}
	list := []liveEndpoint{}
	for _, r := range readings {
		for _, ep := range r.Endpoints {
			if !o.oneBoard || ep.Board == o.board {
				list = append(list, liveEndpoint{r.PID, r.Command, ep, r.Taken.Sub(ep.Opened)})
			}
		}
	}
	if o.json {
		return failed, printJSON(to, list)
	}
	w := bufio.NewWriter(to)
	for i := range list {
		list[i].print(w)
	}
	if len(list) == 0 {
		fmt.Fprintln(w, "No endpoint is open.")
	}
	return failed, w.Flush()
}

func (e *liveEndpoint) print(w io.Writer) {
	fmt.Fprintf(w, "%s\nEndpoint %s%s of process %d (%s), board %d, open for %v\n", rule, e.Name, named(e.ContextName), e.PID, processes.Clean(e.Command), e.Board, e.age.Round(time.Second))
	for _, f := range e.Diagnostics {
		fmt.Fprintf(w, "\t%s: %s\n", f.Name, processes.Clean(f.Value))
	}
	d := &e.Depths
	fmt.Fprintf(w, "\tunexpected messages: %d, which take %d bytes with their headers; the bound is %d bytes without\n", d.Unexpected, d.UnexpectedBytes, d.UnexpectedBound)
	for i := range e.Peers {
		fmt.Fprintf(w, "\tpeer %s: %s\n", e.Peers[i].Name, reached(&e.Peers[i]))
	}
}

// named is the name of a context behind that of its endpoint, if it has one.
func named(context string) string {
	if context == "" {
		return ""
	}
	return fmt.Sprintf(" (context %s)", processes.Clean(context))
}

// reached says how a peer is reached, or why not.
func reached(p *mx.PeerInfo) string {
	how := "no link"
	switch {
	case p.Failure != "":
		how += ": " + processes.Clean(p.Failure)
	case p.Transport != "":
		how = "over " + p.Transport
		if p.Eager > 0 { // a process of another version may not tell
			how += fmt.Sprintf("; messages up to %d bytes travel with their header", p.Eager)
		}
	}
	if p.Instead != "" {
		how += "; not over a preferred transport: " + processes.Clean(p.Instead)
	}
	return how
}
