package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	"gomx/bench/pingpong"
	"gomx/bench/profile"
	"gomx/internal/cmdline"
	"gomx/mpi"
)

func main() {
	o, err := parseOptions(os.Args[1:])
	if answer, asked := cmdline.Answer(err, helpText); asked {
		fmt.Print(answer)
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "collective: %v\n", err)
		os.Exit(2)
	}
	if o.deadline > 0 {
		time.AfterFunc(o.deadline, func() {
			fmt.Fprintln(os.Stderr, "collective: out of time")
			os.Exit(1)
		})
	}
	if err := o.pin(); err != nil {
		fmt.Fprintf(os.Stderr, "collective: %v\n", err)
		os.Exit(2)
	}
	threads := mpi.ThreadMultiple
	if o.single {
		threads = mpi.ThreadSingle
	}
	mpi.Main(func(world *mpi.Comm) error {
		return profile.Write(o.profileOf(world.Rank()), func() error { return measureAll(world, o) })
	}, mpi.WithThreadLevel(threads))
}

// pin binds the process to its core before there is anything else. The rank is what
// launchers say.
func (o *options) pin() error {
	for _, name := range []string{"PMI_RANK", "PMI_ID", "SLURM_PROCID", "MX_RANK"} {
		rank, err := strconv.Atoi(os.Getenv(name))
		if err == nil && rank < len(o.cores) {
			return pingpong.PinProcess(o.cores[rank])
		}
	}
	return nil
}

func measureAll(world *mpi.Comm, o *options) error {
	m := newMeter(world, o)
	if err := m.settle(); err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	for _, c := range o.calls {
		r, err := m.measure(c)
		if err != nil {
			return fmt.Errorf("%v: %w", c, err)
		}
		if world.Rank() != 0 {
			continue
		}
		if err := out.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// options are the command line.
type options struct {
	calls    []call
	cores    []int
	batch    time.Duration
	deadline time.Duration
	profile  string
	single   bool
}

const helpText = `collective measures how long collectives of package mpi take, and half a round trip between ranks 0 and 1 beside them.
It is started as the ranks of a job:

    go build -o collective ./bench/collective
    go run ./cmd/mx_run -n 4 ./collective -calls barrier:0,allreduce:8,allreduce:4096

`

func parseOptions(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("collective", flag.ContinueOnError)
	calls := flags.String("calls", "barrier:0,bcast:65536,allreduce:8,allreduce:4096,allreduce:1048576,alltoall:4096",
		"what to measure: a `list` of calls with their bytes, of "+names())
	cores := flags.String("pin", "", "`core` of each rank, as in 0,1; others are not bound")
	batch := flags.Float64("batch", 5, "how long a batch takes at least, `ms`")
	deadline := flags.Float64("deadline", 0, "end the process after so many `seconds`, whatever happens; 0: never")
	flags.BoolVar(&o.single, "single", false, "promise one goroutine a rank, as MPI_Init does one thread")
	flags.StringVar(&o.profile, "cpuprofile", "", "write a CPU profile to this `file`, whose name ends in the rank")
	if _, err := cmdline.Parse(flags, args); err != nil {
		return nil, err
	}
	o.batch = time.Duration(*batch * float64(time.Millisecond))
	o.deadline = time.Duration(*deadline * float64(time.Second))
	var err error
	if o.calls, err = parseCalls(*calls); err != nil {
		return nil, err
	}
	o.cores, err = parseCores(*cores)
	return o, err
}
