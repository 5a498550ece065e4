// Package sides reads the flags of programs that measure with gomx/bench/pingpong: where the two sides are, and how they
// run and wait. It also is such a program's receiver.
package sides

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"gomx/bench/pingpong"
	"gomx/mx"
)

// patience is how long a sender waits for the receiver's host to answer.
const patience = 10 * time.Second

// ownCoreSpin is how long to spin on a core that nobody else needs: longer than
// any message takes, shorter than anyone would like to heat a room.
const ownCoreSpin = time.Second

// Flags are -transport, -b, -n, -e, -d, -r, -f, -s, -pin, -single, -w and -spin, and what follows from them.
type Flags struct {
	Setup pingpong.Setup

	pin   string
	block bool
	spin  time.Duration
}

// Define adds the flags to the set of a program. A receiver is started with the same program.
func (f *Flags) Define(flags *flag.FlagSet) {
	s := &f.Setup
	s.Board, s.Endpoint, s.RemoteEndpoint = mx.AnyNIC, mx.AnyEndpoint, mx.AnyEndpoint
	s.Filter = pingpong.DefaultFilter
	s.Patience = patience
	s.Tool = flags.Name()
	flags.StringVar(&s.Transport, "transport", pingpong.Auto, "")
	flags.Var((*number)(&s.Board), "b", "")
	flags.Var((*nicID)(&s.NIC), "n", "")
	flags.Var((*number)(&s.Endpoint), "e", "")
	flags.StringVar(&s.Host, "d", "", "")
	flags.Var((*number)(&s.RemoteEndpoint), "r", "")
	flags.Var((*number)(&s.Filter), "f", "")
	flags.BoolVar(&s.Serve, "s", false, "")
	flags.StringVar(&f.pin, "pin", "", "")
	flags.BoolVar(&s.Single, "single", false, "")
	flags.BoolVar(&f.block, "w", false, "")
	flags.DurationVar(&f.spin, "spin", 0, "")
}

// Conflicts returns an error if two of the given flags exclude each other, those of pairs or of this package, or if a
// value makes no sense. ofSender are the other flags of the program that a receiver has no use for.
func (f *Flags) Conflicts(given map[string]bool, ofSender []string, pairs [][2]string) error {
	for _, name := range append([]string{"d", "r"}, ofSender...) {
		if given["s"] && given[name] {
			return fmt.Errorf("-s and -%s exclude each other: a receiver takes its orders from the sender", name)
		}
	}
	for _, pair := range append(pairs, [2]string{"b", "n"}, [2]string{"w", "spin"}) {
		if given[pair[0]] && given[pair[1]] {
			return fmt.Errorf("-%s and -%s exclude each other: leave one out", pair[0], pair[1])
		}
	}
	switch {
	case given["spin"] && f.spin < 0:
		return fmt.Errorf("-spin %v: want a duration that is not negative", f.spin)
	case given["d"] && f.Setup.Host == "":
		return errors.New("-d: want the name of the receiver's host")
	}
	return nil
}

// Complete fills in what was left open, which depends on what was not.
func (f *Flags) Complete(given map[string]bool) error {
	s := &f.Setup
	if s.Serve && !given["e"] {
		s.Endpoint = pingpong.DefaultReceiverEndpoint
	}
	if s.Host != "" && !given["r"] {
		s.RemoteEndpoint = pingpong.DefaultReceiverEndpoint
	}
	if err := s.Resolve(); err != nil {
		return fmt.Errorf("-transport: %w", err)
	}
	if s.Serve && s.Inside() {
		return fmt.Errorf("-s: transport %s stays within one process, so nobody could reach a receiver: leave -s out, or take another transport", s.Transport)
	}
	if err := f.chooseCores(); err != nil {
		return fmt.Errorf("-pin: %w", err)
	}
	f.chooseSpin(given)
	return nil
}

func (f *Flags) chooseCores() error {
	switch f.pin {
	case "none":
		return nil
	case "":
		f.Setup.Cores = pingpong.TwoCores()
		return nil
	}
	first, second, ok := strings.Cut(f.pin, ",")
	var cores [2]number
	if !ok || cores[0].Set(first) != nil || cores[1].Set(second) != nil {
		return fmt.Errorf("%q: want two cores, such as 0,1, or none", f.pin)
	}
	f.Setup.Cores = []int{int(cores[0]), int(cores[1])}
	return pingpong.CheckCores(f.Setup.Cores)
}

func (f *Flags) chooseSpin(given map[string]bool) {
	cores := f.Setup.Cores
	switch {
	case f.block:
		f.Setup.Spin = 0
	case given["spin"]:
		f.Setup.Spin = f.spin
	case len(cores) == 2 && cores[0] != cores[1]:
		f.Setup.Spin = ownCoreSpin
	default:
		f.Setup.Spin = pingpong.LibrarySpin
	}
}

// Prelude says what is about to be measured, and over what, if the library chose it. of are the operations, in the plural;
// "": messages. iterations may be 0: it is not known.
func (f *Flags) Prelude(iterations int, of string, way mx.PeerInfo) string {
	what := "Running"
	if iterations > 0 {
		what += fmt.Sprintf(" %d iterations", iterations)
	}
	switch {
	case of != "" && iterations > 0:
		what += " of " + of
	case of != "":
		what += " " + of
	}
	switch f.Setup.Transport {
	case "self":
		what += " of an endpoint with itself"
	case "mem":
		what += " between two goroutines"
	default:
		over := f.Setup.Transport
		if f.Setup.LeavesOpen() {
			over = way.Transport
		}
		what += " between two processes over " + over
		if f.Setup.Host != "" {
			what += ", the other on " + f.Setup.Host
		}
	}
	if c := f.Setup.Cores; len(c) == 2 && f.Setup.Host == "" && f.Setup.Transport != "self" {
		what += fmt.Sprintf(", on cores %d and %d", c[0], c[1])
	}
	what += "."
	if way.Instead != "" {
		what += "\nNot over a preferred transport: " + way.Instead + "."
	}
	return what
}

// Serve is the receiver, until the context ends. It says on stdout where it is, and on stderr which measurements went
// wrong. what is what it does, such as "pingpong".
func (f *Flags) Serve(ctx context.Context, what string, stdout, stderr io.Writer) error {
	err := pingpong.Serve(ctx, f.Setup, stderr, func(ep *mx.Endpoint) error {
		name := ep.String()
		if id, err := mx.BoardNumberToNICID(ep.Board()); err == nil {
			if host, err := mx.NICIDToHostname(id); err == nil {
				name = host
			}
		}
		_, err := fmt.Fprintf(stdout, "Starting %s receiver on %s, endpoint=%d\n", what, name, ep.ID())
		return err
	})
	if ctx.Err() != nil {
		return nil // that is how a receiver ends
	}
	return err
}
