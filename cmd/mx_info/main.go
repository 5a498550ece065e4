// Command mx_info says what gomx finds on this machine.
//
//	mx_info          boards, limits, transports, single copy, RDMA, other hosts
//	mx_info -b 0     board 0 only
//	mx_info -env     the environment variables, and where their values come from
//	mx_info -live    the endpoints that are open, and how they reach their peers
//	mx_info -want heals,reach=network
//	                 which transports and boards meet wishes, and why the others do not
//	mx_info -json    any of these for programs
//
// With -h it explains its flags. The exit status is 0, 1 if it could not find
// out or was asked for what is not there, or 2 if nothing meets the wishes.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"gomx/cmd/internal/processes"
	"gomx/internal/cmdline"
	"gomx/internal/partner"
	"gomx/mpi"
	"gomx/mx"
)

// Exit statuses.
const (
	exitGood   = 0
	exitFailed = 1
	exitUnmet  = 2 // nothing meets the wishes
)

func main() {
	if partner.Is(partnerVariable) {
		os.Exit(report(os.Stderr, runPartner()))
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program, with what it talks to as arguments.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args)
	asked, err := cmdline.Answer(stdout, err, helpText)
	switch {
	case err != nil || asked:
	case o.live:
		var failed []error
		failed, err = showLive(o, stdout)
		if processes.Report(stderr, "mx_info", failed) && err == nil {
			return exitFailed
		}
	case o.wants:
		var met bool
		if met, err = showProviders(o, stdout); err == nil && !met {
			return exitUnmet
		}
	default:
		err = show(o, stdout)
	}
	return report(stderr, err)
}

func report(stderr io.Writer, err error) int {
	if err == nil {
		return exitGood
	}
	fmt.Fprintf(stderr, "mx_info: %v\n", err)
	return exitFailed
}

// show finds out what was asked for and prints it.
func show(o *options, to io.Writer) error {
	variables, err := environment()
	if err != nil {
		return badVariable(err)
	}
	if o.env {
		if o.json {
			return printJSON(to, variables)
		}
		return printVariables(to, variables)
	}
	// The endpoints of the trial are nobody else's business.
	if err := os.Setenv("MX_ANY_ENDPOINT", "-1"); err != nil {
		return err
	}
	if err := mx.Init(); err != nil {
		return err
	}
	mx.SetErrorHandler(mx.ErrorsReturn) // also with MX_ERRORS_ARE_FATAL: we report ourselves
	f, err := gather(o, variables)
	if err == nil {
		if o.json {
			f.Environment = variables
			err = printJSON(to, f)
		} else {
			err = f.print(to)
		}
	}
	return errors.Join(err, mx.Finalize())
}

func badVariable(err error) error {
	return fmt.Errorf("bad environment variable: %w; correct it or unset it", err)
}

func printJSON(to io.Writer, v any) error {
	e := json.NewEncoder(to)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// environment returns the variables of mx and those of mpi.
func environment() ([]mx.Variable, error) {
	all, err := mx.Environment()
	more, mpiErr := mpi.Environment()
	return append(all, more...), cmp.Or(err, mpiErr)
}
