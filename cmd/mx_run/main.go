// Command mx_run starts a parallel program on this host.
//
//	mx_run -n 4 ./program            four ranks of it
//	mx_run -n 4 ./examples/mpi_ring  of a Go package, which it builds first
//
// With -h it explains its flags. Its ranks find each other by PMI, as those of mpiexec and srun do,
// which start jobs on several hosts. It only reads flags and prints; gomx/mpi/launch/spawn starts
// the ranks.
//
// The exit status is 0 if all ranks did well, that of the first rank that failed, 128 and the number
// of the signal that killed it, and 1 for anything else.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"gomx/internal/cmdline"
	"gomx/mpi/launch/spawn"
)

const (
	exitGood   = 0
	exitFailed = 1
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program, with what it talks to as arguments.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parseOptions(args)
	switch asked, err := cmdline.Answer(stdout, err, helpText); {
	case err != nil:
		return complain(stderr, err)
	case asked:
		return exitGood
	}
	ctx, stop := signal.NotifyContext(context.Background(), cmdline.EndSignals()...)
	program, clean, err := o.build(ctx, stderr)
	stop()
	if err != nil {
		return complain(stderr, err)
	}
	defer clean()
	plan := &spawn.Plan{
		Ranks: o.ranks, Program: program, Bind: o.bind, Stdin: stdin, Signals: true,
		Failed: func(f *spawn.Failure, others int) { fmt.Fprintln(stderr, "mx_run:", f.Error()+ending(others)) },
	}
	if o.label {
		plan.Stdout, plan.Stderr = labels(stdout, o.ranks), labels(stderr, o.ranks)
	}
	err = spawn.Run(context.Background(), plan)
	if f := (*spawn.Failure)(nil); errors.As(err, &f) {
		return f.Code // Failed has said it
	}
	if err != nil {
		return complain(stderr, err)
	}
	return exitGood
}

func complain(stderr io.Writer, err error) int {
	fmt.Fprintln(stderr, "mx_run:", err)
	return exitFailed
}

// ending says what happens to the others.
func ending(others int) string {
	switch others {
	case 0:
		return ""
	case 1:
		return "; ending the other one"
	}
	return fmt.Sprintf("; ending the other %d", others)
}
