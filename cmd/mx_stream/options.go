package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gomx/bench/pingpong"
	"gomx/cmd/internal/sides"
	"gomx/internal/cmdline"
)

// Defaults; those of MX but for the number of messages.
const (
	defaultLength   = "8192"
	defaultInFlight = 16
	defaultWarmup   = 10
)

const helpText = `mx_stream measures how much a stream of messages carries: the sender has some under way
at a time, and the receiver takes the time until the last has come.

  mx_stream                two processes on this host, messages of 8 KiB
  mx_stream -x             both ways at once
  mx_stream -s             the receiver: answers one sender after the other
  mx_stream -d HOST        the sender, with the receiver on HOST

Without -s and -d it starts its second process by itself.

Which messages
  -l list         lengths of the messages, bytes, at most 1073741824, with commas
                  between them (default 8192)
  -N n            messages of each length (default: as many as 0.5 s needs)
  -W n            messages before those, which don't count (default 10)
  -x              both ways at once: sent and received are printed, and their sum
  -inflight n     messages under way at a time, on each side (default 16)
  -R              synchronous sends: complete when they are received
  -V              fill and check all messages; the times then include that.
                  A corrupt message ends the program with status 2
  -alloc          use memory from mx.Alloc for the buffers

Where
  -transport t    auto, or one that mx_info lists: mem (two in one process), shm (shared
                  memory) ... (default auto); or several such as rdma,tcp: the first that
                  reaches the receiver
` + sides.Help + `
What to print
  -json           one JSON object a line, with both directions

About the program
  -h              this text
  -version        the version, and what built this program
  -completion shell
                  the completion for bash, zsh or fish

A receiver takes its orders from the sender: there, only the flags under Where and
How to run and wait count.

Exit status: 0 all was measured, 1 something is wrong, 2 a message was corrupt.
`

type options struct {
	at   sides.Flags
	plan pingpong.Plan
	json bool
}

// ofSender are the flags that a receiver has no use for.
var ofSender = []string{"l", "N", "W", "x", "inflight", "R", "V", "alloc", "json"}

// parseOptions reads the command line. Its error after -h, -version and -completion is for cmdline.Answer.
func parseOptions(args []string) (*options, error) {
	o := &options{plan: pingpong.Plan{Stream: true}}
	flags := flag.NewFlagSet("mx_stream", flag.ContinueOnError)
	o.at.Define(flags)
	p := &o.plan
	lengths := flags.String("l", defaultLength, "")
	flags.IntVar(&p.Iterations, "N", 0, "")
	flags.IntVar(&p.Warmup, "W", defaultWarmup, "")
	flags.BoolVar(&p.Both, "x", false, "")
	flags.IntVar(&p.Window, "inflight", defaultInFlight, "")
	flags.BoolVar(&p.Sync, "R", false, "")
	flags.BoolVar(&p.Verify, "V", false, "")
	flags.BoolVar(&p.Alloc, "alloc", false, "")
	flags.BoolVar(&o.json, "json", false, "")
	given, err := cmdline.Parse(flags, args)
	if err != nil {
		return nil, err
	}
	if err := o.at.Conflicts(given, ofSender, nil); err != nil {
		return nil, err
	}
	switch {
	case given["N"] && p.Iterations < 1:
		return nil, fmt.Errorf("-N %d: want a number above 0", p.Iterations)
	case p.Warmup < 0:
		return nil, fmt.Errorf("-W %d: want 0 or more", p.Warmup)
	case p.Window < 1:
		return nil, fmt.Errorf("-inflight %d: want a number above 0", p.Window)
	case o.at.Setup.Transport == "self":
		return nil, errors.New("-transport self: a stream needs two endpoints: take mem")
	}
	for text := range strings.SplitSeq(*lengths, ",") {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return nil, fmt.Errorf("-l %q: want lengths in bytes, such as 8,8192", *lengths)
		}
		p.Lengths = append(p.Lengths, int(min(n, math.MaxInt32))) // Check knows the bound
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	return o, o.at.Complete(given)
}
