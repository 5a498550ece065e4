// Command mx_pingpong measures how long messages take between two endpoints.
//
//	mx_pingpong              two processes on this host, 0 B to 4 MiB
//	mx_pingpong -s           on one host: the receiver
//	mx_pingpong -d HOST      on another: the sender, which measures
//
// With -h it explains its flags, which are those of MX's mx_pingpong and some
// more. It only reads flags and prints; gomx/bench/pingpong measures.
//
// The exit status is 0 if all was measured, 2 if a message arrived corrupt, and
// 1 for anything else.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"gomx/bench/pingpong"
	"gomx/internal/cmdline"
)

// Exit statuses; the last two are MX's.
const (
	exitGood    = 0
	exitFailed  = 1
	exitCorrupt = 2
)

func main() {
	if pingpong.IsPartner() {
		os.Exit(report(os.Stderr, pingpong.RunPartner()))
	}
	cmdline.Main(run)
}

// run is the whole program, with what it talks to as arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args)
	if answer, asked := cmdline.Answer(err, helpText); asked {
		fmt.Fprint(stdout, answer)
		return exitGood
	}
	switch {
	case err != nil:
		return report(stderr, err)
	case o.at.Setup.Serve:
		return report(stderr, o.at.Serve(ctx, "pingpong", stdout, stderr))
	}
	err = measure(ctx, o, stdout)
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "mx_pingpong: interrupted; nothing is left running")
		return exitFailed
	}
	return report(stderr, err)
}

// report prints an error, and returns the exit status that goes with it.
func report(stderr io.Writer, err error) int {
	switch {
	case err == nil:
		return exitGood
	case errors.Is(err, pingpong.ErrCorrupt):
		fmt.Fprintln(stderr, "mx_pingpong:", err)
		return exitCorrupt
	}
	fmt.Fprintln(stderr, "mx_pingpong:", err)
	return exitFailed
}

func measure(ctx context.Context, o *options, stdout io.Writer) error {
	p := o.newPrinter(stdout)
	if err := pingpong.Run(ctx, o.at.Setup, &o.plan, p.Watcher); err != nil {
		return err
	}
	return p.finish()
}
