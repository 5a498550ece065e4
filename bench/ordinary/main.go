// Command ordinary measures programs as users write them: as the documentation teaches, built with "go build" and
// nothing else, with default options, each beside its counterpart.
//
//	go run ./bench/ordinary
//	go run ./bench/ordinary -against ../older
//
// Each program lies in a folder of its own here, and is small enough to read first. Those of package mpi stand beside the
// same program in C (peers) on the MPIs of this machine, those of package exs beside themselves over TCP and over Unix sockets. With -against the
// programs are built inside another checkout of the module as well, so that two versions of gomx run in turn; they
// therefore keep to calls that both versions have.
//
// In each round every subject of a row runs once, one after the other, and the figure is the median of the
// rounds. Behind it stands the processor time of all processes of the run while it was measured, for each operation, and then
// the ratio to gomx's figure: what is above 1 is slower, or takes more, than gomx. Ranks and the processes of package mx are bound
// to a core each, as the launchers of MPIs do; with -free they are not. More ranks than cores, and what uses
// sockets, are never bound.
//
// Without -only one row or two of each program are measured; -only chooses among all of them, which has messages and collectives of several
// sizes among several numbers of ranks. With -tcp gomx and the MPIs are told to use nothing but TCP, with -busy a process that computes
// runs beside them for each core.
//
// What is not installed is named and left out. What fails, or does not end in time, is named as well and not tried
// again, and the exit status is 1.
//
// Where to read next: rows.go and rows_mpi.go say what is measured, subjects.go beside what.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"time"

	"gomx/bench/internal/child"
	"gomx/internal/cmdline"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), child.EndSignals...)
	err := ordinary(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if answer, asked := cmdline.Answer(err, helpText); asked {
		fmt.Print(answer)
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "ordinary:", err)
		os.Exit(1)
	}
}

const helpText = `ordinary measures programs as users write them, each beside its counterpart: the same program in C on the MPIs of
this machine, the same sockets over TCP and over Unix sockets, the same program of another checkout.

    go run ./bench/ordinary
    go run ./bench/ordinary -against ../older
    go run ./bench/ordinary -only 'ping-pong' -rounds 9

Leave the machine alone meanwhile: whatever else runs shows in the figures.

`

type options struct {
	rounds  int
	scale   int
	only    *regexp.Regexp
	against string
	timeout time.Duration
	free    bool
	tcp     bool
	busy    bool
	json    bool
}

func parse(args []string) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("ordinary", flag.ContinueOnError)
	f.IntVar(&o.rounds, "rounds", 7, "measure everything `n` times over")
	f.IntVar(&o.scale, "scale", 1, "divide all counts by `n`, to see whether everything runs")
	only := f.String("only", "", "measure the rows whose name matches this `expression`, of all there are; . is all, and without it some are left out")
	f.StringVar(&o.against, "against", "", "measure the checkout in this `folder` as well")
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "longest time for one run of one program (`duration`)")
	f.BoolVar(&o.free, "free", false, "bind nothing to cores")
	f.BoolVar(&o.tcp, "tcp", false, "have gomx and the MPIs use TCP, over the loopback interface, in place of shared memory")
	f.BoolVar(&o.busy, "busy", false, "let as many processes compute meanwhile as there are cores")
	f.BoolVar(&o.json, "json", false, "print one JSON object for each row and subject, with the figures of all rounds")
	if _, err := cmdline.Parse(f, args); err != nil {
		return nil, err
	}
	if o.rounds < 1 || o.scale < 1 {
		return nil, fmt.Errorf("-rounds %d, -scale %d: want numbers above 0", o.rounds, o.scale)
	}
	var err error
	o.only, err = regexp.Compile(*only)
	return o, err
}

func ordinary(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gomx-ordinary-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c := &comparison{options: o, dir: dir, log: stderr}
	if err := c.build(ctx); err != nil {
		return err
	}
	t, err := c.run(ctx)
	show := t.write
	if o.json {
		show = t.writeJSON
	}
	err = errors.Join(show(stdout), err)
	if err == nil && c.failures > 0 {
		err = fmt.Errorf("the table is not complete: %d failed", c.failures)
	}
	return err
}
