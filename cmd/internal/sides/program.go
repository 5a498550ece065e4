package sides

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

// Program is a program that measures with gomx/bench/pingpong.
type Program struct {
	Name     string // as users call it
	Receives string // what its receiver calls itself, such as "pingpong"
	Help     string // for -h

	// Parse reads the arguments. measure carries out what they ask for, and prints.
	Parse func(args []string) (at *Flags, measure func(ctx context.Context, stdout io.Writer) error, err error)
}

// Main is the whole program: sender, receiver, or the second process that a sender has started. It ends the process.
func (p *Program) Main() {
	if pingpong.IsPartner() {
		os.Exit(p.report(os.Stderr, pingpong.RunPartner()))
	}
	cmdline.Main(p.run)
}

// run is Main of the first process, with what it talks to as arguments.
func (p *Program) run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	at, measure, err := p.Parse(args)
	asked, err := cmdline.Answer(stdout, err, p.Help)
	switch {
	case err != nil || asked:
	case at.Setup.Serve:
		err = at.Serve(ctx, p.Receives, stdout, stderr)
	default:
		err = measure(ctx, stdout)
		if ctx.Err() != nil {
			fmt.Fprintf(stderr, "%s: interrupted; nothing is left running\n", p.Name)
			return exitFailed
		}
	}
	return p.report(stderr, err)
}

// report prints an error, and returns the exit status that goes with it.
func (p *Program) report(stderr io.Writer, err error) int {
	if err == nil {
		return exitGood
	}
	fmt.Fprintf(stderr, "%s: %v\n", p.Name, err)
	if errors.Is(err, pingpong.ErrCorrupt) {
		return exitCorrupt
	}
	return exitFailed
}
