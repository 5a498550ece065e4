// Command exs_blast measures throughput, processor time and latency of EXS sockets,
// as the papers about UNH EXS do, and of TCP sockets beside them.
//
//	exs_blast                two processes on this host, 64 B to 4 MiB
//	exs_blast -s             on one host: the server
//	exs_blast -d HOST        on another: the client, which measures
//
// With -h it explains its flags.
//
// For each point the client sends the server an order (order.go) over a TCP
// connection, and makes the connection to measure (course.go: exs.go, exs_latency.go, tcp.go) to the
// port that the server answers with. client.go takes the times, server.go takes part,
// partner.go is the second process, plan.go lists the points.
//
// The exit status is 0 if all was measured, 2 if a message arrived corrupt, and 1
// for anything else.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"gomx/internal/cmdline"
	"gomx/internal/partner"
)

// Exit statuses.
const (
	exitGood    = 0
	exitFailed  = 1
	exitCorrupt = 2
)

func main() {
	if isPartner() {
		os.Exit(report(os.Stderr, runPartner()))
	}
	cmdline.Main(program)
}

// program is all of it, with what it talks to as arguments.
func program(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args)
	asked, err := cmdline.Answer(stdout, err, helpText)
	switch {
	case err != nil || asked:
		return report(stderr, err)
	case o.serve:
		return report(stderr, o.beServer(ctx, stdout, stderr))
	}
	err = o.beClient(ctx, stdout, stderr)
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "exs_blast: interrupted; nothing is left running")
		return exitFailed
	}
	return report(stderr, err)
}

// report prints an error, and returns the exit status that goes with it.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return exitGood
	}
	fmt.Fprintln(stderr, "exs_blast:", err)
	if errors.Is(err, errCorrupt) {
		return exitCorrupt
	}
	return exitFailed
}

func (o *options) beServer(ctx context.Context, stdout, stderr io.Writer) error {
	if err := pinTo(o.cores, 1); err != nil {
		return err
	}
	l, err := net.Listen("tcp", net.JoinHostPort("", o.port))
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(stdout, "exs_blast server on %v\n", l.Addr()); err != nil {
		return errors.Join(err, l.Close())
	}
	return serve(ctx, l, stderr)
}

func (o *options) beClient(ctx context.Context, stdout, stderr io.Writer) (err error) {
	host, port := o.host, o.port
	if host == "" {
		p, err := partner.Start(partnerVariable, o.cores, nil)
		if err != nil {
			return err
		}
		defer p.End()
		if port, err = p.Address(); err != nil {
			return err
		}
		host = "127.0.0.1"
	}
	if err := pinTo(o.cores, 0); err != nil {
		return err
	}
	c, err := dialServer(ctx, host, port)
	if err != nil {
		return err
	}
	defer c.w.Close()
	c.time, c.count = o.time, o.count
	p := o.newPrinter(stdout, stderr)
	for i := range o.points {
		p.begin(i, &o.points[i])
		r, err := c.measure(ctx, &o.points[i])
		if err != nil {
			return fmt.Errorf("%s: %w", o.points[i].title(), err)
		}
		if err := p.result(&r); err != nil {
			return err
		}
	}
	return p.finish()
}
