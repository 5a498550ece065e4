package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"gomx/integration/rdmavm/internal/child"
	"gomx/internal/cmdline"
)

// Exit statuses.
const (
	exitPassed  = 0
	exitFailed  = 1
	exitUsage   = 2
	exitLacking = 3
)

// errFailed says that a check has failed, which the table shows.
var errFailed = errors.New("not all passed")

// errUsage says that the command line is wrong, or asks for what can't be built.
var errUsage = errors.New("can't run that")

// compareTimeout is long enough for some rounds in an emulated machine.
const compareTimeout = 30 * time.Minute

// options are those of the command line.
type options struct {
	packages             []string
	run, cache           string
	short, verbose, keep bool
	mpi, compare         bool
	hosts                int
	timeout              time.Duration
	args                 []string
}

const helpText = `rdmavm runs programs in a virtual machine that has RDMA devices, on machines that have none.

    go run ./integration/rdmavm                                the suite
    go run ./integration/rdmavm -packages ./mx -run Window     the tests of some packages
    go run ./integration/rdmavm ./cmd/mx_info                  a program
    go run ./integration/rdmavm -compare -- -rounds 9          bench/compare over RDMA

Exit status: 0 all passed, 1 something failed or took too long, 2 the command line or a package is wrong, 3 this
machine lacks what it takes.

`

func main() {
	o, err := parse(os.Args[1:])
	asked, err := cmdline.Answer(os.Stdout, err, helpText)
	if err == nil && !asked {
		ctx, stop := signal.NotifyContext(context.Background(), child.EndSignals...)
		err = runAll(ctx, o)
		stop()
	}
	if err != nil {
		slog.Error(err.Error())
	}
	os.Exit(exitStatus(err))
}

func exitStatus(err error) int {
	switch {
	case err == nil:
		return exitPassed
	case errors.Is(err, errUsage):
		return exitUsage
	case errors.Is(err, errLacking):
		return exitLacking
	}
	return exitFailed
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("rdmavm", flag.ContinueOnError)
	packages := f.String("packages", "", "run the tests of these packages, separated by commas; further arguments go to the tests")
	f.StringVar(&o.run, "run", "", "run only the tests whose names match this regular expression")
	f.BoolVar(&o.short, "short", false, "tell the tests to be short")
	f.BoolVar(&o.verbose, "v", false, "show all tests, and the kernel's messages")
	f.BoolVar(&o.mpi, "mpi", false, "put Open MPI and MPICH into the machine, with programs that measure them")
	f.BoolVar(&o.compare, "compare", false, "compare gomx with perftest and the MPIs in the machine; further arguments go to bench/compare")
	f.IntVar(&o.hosts, "hosts", 1, "how many machines, 1 or 2")
	f.DurationVar(&o.timeout, "timeout", 12*time.Minute, "kill the machines after that time; for -compare the default is "+compareTimeout.String())
	f.StringVar(&o.cache, "cache", "", "the folder for Debian's packages (default: gomx-rdmavm in the user's cache folder)")
	f.BoolVar(&o.keep, "keep", false, "keep the files of the machines, and say where")
	if _, o.args, err = cmdline.ParseBefore(f, args); err != nil {
		return o, errors.Join(errUsage, err)
	}
	if o.compare {
		o.mpi = true
		given := false
		f.Visit(func(flag *flag.Flag) { given = given || flag.Name == "timeout" })
		if !given {
			o.timeout = compareTimeout
		}
	}
	if *packages != "" {
		o.packages = strings.Split(*packages, ",")
	}
	switch {
	case o.hosts != 1 && o.hosts != 2:
		return o, fmt.Errorf("%w: -hosts is 1 or 2", errUsage)
	case o.compare && (o.hosts > 1 || *packages != ""):
		return o, fmt.Errorf("%w: -compare measures on one host, and runs no tests", errUsage)
	case o.timeout <= 0:
		return o, fmt.Errorf("%w: -timeout is more than 0", errUsage)
	}
	return o, nil
}

// packageLimit is how long the tests of a package of the suite may take: those that hang shall say where
// while there is time. On a machine with nothing else to do the longest take two and a half minutes.
const packageLimit = 10 * time.Minute

// checkLimit is less than the machine has, so that it can say what has not ended.
func (o options) checkLimit() time.Duration {
	limit := o.timeout * 8 / 10
	if len(o.packages) == 0 && !o.compare {
		limit = min(limit, packageLimit)
	}
	return limit
}

// cacheFolder returns the folder for packages, as an absolute path.
func (o options) cacheFolder() (string, error) {
	if o.cache != "" {
		return filepath.Abs(o.cache)
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w: no folder for packages, name one with -cache: %w", errLacking, err)
	}
	return filepath.Join(user, "gomx-rdmavm"), nil
}
