package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"strings"
	"time"

	"gomx/bench/pingpong"
	"gomx/internal/cmdline"
	"gomx/mx"
)

const helpText = `mx_msg_loop sends messages of all lengths and alignments to and fro between endpoints of
its own, and checks everything that arrives: contents, the bytes before and behind them,
length, match information and sender. It is a test of this machine and of gomx on it.

  mx_msg_loop                      once through, over each transport that works here
  mx_msg_loop -transport tcp -N 0  over TCP alone, until interrupted
  mx_msg_loop -u -P 16             16 at a time, and each before its receive

Which messages
  -S n            first length, bytes (default 0)
  -E n            lengths stay below this; at most 1073741824 (default 1048577)
  -I n            each length is longer by n bytes
  -M x            each length is x times the one before (default 1.5)
  -R              random lengths in place of these, as many of them
  -seed n         what the random lengths follow from (default 1)
  -a n            first alignment of a buffer: bytes behind the begin of a page
                  (default 0)
  -A n            alignments stay below this; at most 4096. Each alignment of the sender
                  meets each of the receiver (default 8)
  -P n            messages at a time, at most 128 (default 1)
  -N n            rounds through all of that; 0: until interrupted (default 1)
  -for t          go on for so long with each transport, such as 10m, whatever -N says

How
  -transport t    those to go over, with commas between them: self, mem, shm, rdma, tcp
                  (default all that work here)
  -s              synchronous sends: complete when they are received
  -u              unexpected: a message comes first, is probed for, and then received
  -alloc          use memory from mx.Alloc for the buffers
  -k              keep going after an error
  -f              do not check contents
  -t t            how long a message may take (default 30s)

What to print
  -v              what it is at, every second, on the standard error
  -i t            with -v: every so often (default 1s)
  -json           one JSON object for each transport

About the program
  -h              this text
  -version        the version, and what built this program
  -completion shell
                  the completion for bash, zsh or fish

Exit status: 0 all arrived as it was sent, 1 something is wrong, 2 a message was corrupt.
`

// Bounds.
const (
	mostAlign    = 4096
	mostParallel = 128
	mostMemory   = min(4<<30, math.MaxInt) // bytes, of all buffers
)

type options struct {
	steps              pingpong.Steps
	lengths            []int
	random             bool
	seed               uint64
	align, alignBelow  int
	parallel           int
	rounds             int // 0: no end
	lasts              time.Duration
	transports         []string
	sync, unexpected   bool
	alloc, goOn, blind bool
	timeout            time.Duration
	verbose, json      bool
	every              time.Duration
}

// parseOptions reads the command line. Its error after -h, -version and -completion is for cmdline.Answer.
func parseOptions(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("mx_msg_loop", flag.ContinueOnError)
	flags.IntVar(&o.steps.Start, "S", 0, "")
	flags.IntVar(&o.steps.End, "E", 1<<20+1, "")
	flags.IntVar(&o.steps.Add, "I", 0, "")
	flags.Float64Var(&o.steps.Factor, "M", 0, "")
	flags.BoolVar(&o.random, "R", false, "")
	flags.Uint64Var(&o.seed, "seed", 1, "")
	flags.IntVar(&o.align, "a", 0, "")
	flags.IntVar(&o.alignBelow, "A", 8, "")
	flags.IntVar(&o.parallel, "P", 1, "")
	flags.IntVar(&o.rounds, "N", 1, "")
	flags.DurationVar(&o.lasts, "for", 0, "")
	transports := flags.String("transport", "", "")
	flags.BoolVar(&o.sync, "s", false, "")
	flags.BoolVar(&o.unexpected, "u", false, "")
	flags.BoolVar(&o.alloc, "alloc", false, "")
	flags.BoolVar(&o.goOn, "k", false, "")
	flags.BoolVar(&o.blind, "f", false, "")
	flags.DurationVar(&o.timeout, "t", 30*time.Second, "")
	flags.BoolVar(&o.verbose, "v", false, "")
	flags.DurationVar(&o.every, "i", time.Second, "")
	flags.BoolVar(&o.json, "json", false, "")
	given, err := cmdline.Parse(flags, args)
	if err != nil {
		return nil, err
	}
	if err := o.check(given); err != nil {
		return nil, err
	}
	if !given["I"] && !given["M"] {
		o.steps.Factor = 1.5
	}
	if o.lengths, err = o.steps.Lengths(); err != nil {
		return nil, err
	}
	if n := o.memory(); n > mostMemory {
		return nil, fmt.Errorf("-P %d of messages below %d bytes: the buffers take %d bytes, more than %d: take fewer at a time, or shorter ones", o.parallel, o.steps.End, n, int64(mostMemory))
	}
	return o, o.choose(*transports)
}

func (o *options) check(given map[string]bool) error {
	switch {
	case given["I"] && given["M"]:
		return errors.New("-I and -M exclude each other: leave one out")
	case given["I"] && o.steps.Add < 1:
		return fmt.Errorf("-I %d: want a number above 0", o.steps.Add)
	case given["seed"] && !o.random:
		return errors.New("-seed has nothing to do without -R")
	case given["i"] && !o.verbose:
		return errors.New("-i has nothing to do without -v")
	case o.align < 0 || o.alignBelow > mostAlign || o.align >= o.alignBelow:
		return fmt.Errorf("-a %d and -A %d: want alignments from 0 to %d, the second above the first", o.align, o.alignBelow, mostAlign)
	case o.parallel < 1 || o.parallel > mostParallel:
		return fmt.Errorf("-P %d: from 1 to %d are possible", o.parallel, mostParallel)
	case o.rounds < 0:
		return fmt.Errorf("-N %d: want 0 or more", o.rounds)
	case given["for"] && o.lasts <= 0, o.timeout <= 0, o.every <= 0:
		return errors.New("-for, -t and -i want durations above 0, such as 10s")
	}
	return nil
}

// choose finds the transports, which must work here.
func (o *options) choose(list string) error {
	if list == "" {
		for _, t := range mx.Transports() {
			if t.Available {
				o.transports = append(o.transports, t.Name)
			}
		}
		return nil
	}
	for name := range strings.SplitSeq(list, ",") {
		s := pingpong.Setup{Transport: name}
		if err := s.Resolve(); err != nil {
			return fmt.Errorf("-transport: %w", err)
		}
		o.transports = append(o.transports, s.Transport)
	}
	return nil
}
