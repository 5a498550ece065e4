package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gomx/bench/plot"
	"gomx/internal/cmdline"
)

const helpText = `Compare gomx with the MPIs installed on this machine, and over TCP with a bare
socket as well: in turn, two processes pinned to two cores. Prints medians and
ratios, and over TCP how they stand to what gomx is meant to reach.

    go run ./bench/compare                        everything, some minutes
    go run ./bench/compare -media tcp             over TCP (loopback) only
    go run ./bench/compare -media rdma            over an RDMA device of this machine
    go run ./bench/compare -only latency -rounds 9
    go run ./bench/compare -peers openmpi -v
    go run ./bench/compare -markdown -plot latency.svg

The MPIs run as MPI_Init starts them, which is MPI_THREAD_SINGLE: without locks. So
does gomx, as mx_pingpong -single, but for "gomx, any thread", whose endpoints any
goroutine may use, as is usual in Go. "mx" is bare endpoints beside ranks.

The tables of 2, 4 and 8 ranks (2-ranks, 4-ranks, 8-ranks) are of package mpi: half
a round trip, and collectives. Two ranks have a core each, more share two.

Over shared memory (shm) everything is measured, over TCP (tcp) latency and rate,
over RDMA (rdma) latency and bandwidth, beside the programs of perftest.
Leave the machine alone meanwhile: whatever else runs shows in the figures.

`

type options struct {
	rounds   int
	peers    []string
	media    []string
	only     []string
	cores    pin
	timeout  time.Duration
	pingpong string
	programs string
	rig      rig
	plot     string
	verbose  bool
	write    func(io.Writer, *report) error
}

// parseOptions reads the command line. Its error after -h, -version and -completion is for cmdline.Answer.
func parseOptions(args []string) (*options, error) {
	o := &options{cores: pin{0, 1}, write: writeTables}
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	var peers, over, only string
	var asJSON, asMarkdown bool
	flags.IntVar(&o.rounds, "rounds", 5, "measure everything `n` times over")
	flags.StringVar(&peers, "peers", strings.Join(peerNames(), ","), "what to compare with, as far as installed; none for gomx alone (`list`)")
	flags.StringVar(&over, "media", strings.Join(usualMedia, ","), "what messages travel over (`list`; known: "+strings.Join(media, ",")+")")
	flags.StringVar(&only, "only", strings.Join(quantities, ","), "what to measure (`list`)")
	flags.Var(&o.cores, "pin", "the two `cores` to run on")
	flags.DurationVar(&o.timeout, "timeout", time.Minute, "longest time for one run of one program (`duration`)")
	flags.StringVar(&o.pingpong, "gomx", "", "use this mx_pingpong (`path`) instead of building one")
	flags.StringVar(&o.programs, "programs", "", "take mx_run and collective from this `folder` instead of building them")
	flags.StringVar(&o.rig.ranks, "ranks", "", "take the MPIs' programs, named pingpong.openmpi and so on, from this `folder` instead of compiling them")
	flags.StringVar(&o.rig.device, "device", "", "the RDMA device to measure over (`name`; default the first one), its port 1")
	flags.IntVar(&o.rig.gid, "gid", -1, "the `index` of the device's GID for those that take one; below 0 they choose")
	flags.StringVar(&o.plot, "plot", "", "draw latency and bandwidth over size into `file`, .svg or .png; with several media, all but the first get theirs into the name, as in -tcp")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object a line, with the figure of every round")
	flags.BoolVar(&asMarkdown, "markdown", false, "print tables for the documentation")
	flags.BoolVar(&o.verbose, "v", false, "show every command and what it prints")
	if _, err := cmdline.Parse(flags, args); err != nil {
		return nil, err
	}
	if asJSON && asMarkdown {
		return nil, fmt.Errorf("-json and -markdown exclude each other")
	}
	if asJSON {
		o.write = writeJSON
	}
	if asMarkdown {
		o.write = writeMarkdown
	}
	return o, o.check(peers, over, only)
}

func (o *options) check(peers, over, only string) (err error) {
	if o.peers, err = choose("-peers", peers, peerNames()); err != nil {
		return err
	}
	if o.media, err = choose("-media", over, media); err != nil {
		return err
	}
	if o.only, err = choose("-only", only, quantities); err != nil {
		return err
	}
	switch {
	case len(o.only) == 0:
		return fmt.Errorf("-only: nothing to measure; known: %s", strings.Join(quantities, ", "))
	case len(o.media) == 0:
		return fmt.Errorf("-media: nothing to measure over; known: %s", strings.Join(media, ", "))
	case len(planFor(o.media, o.only)) == 0:
		return fmt.Errorf("-only %s is not measured over -media %s", only, over)
	case o.rounds < 1:
		return fmt.Errorf("-rounds: %d rounds measure nothing", o.rounds)
	case o.timeout <= 0:
		return fmt.Errorf("-timeout: %v is not a time limit", o.timeout)
	}
	if slices.Contains(o.media, string(rdma)) {
		if err := o.rig.findDevice(); err != nil {
			return fmt.Errorf("-media rdma: %w", err)
		}
	}
	switch {
	case o.plot == "":
		return nil
	case !slices.Contains(o.only, "latency"):
		return fmt.Errorf("-plot draws latency, which -only leaves out")
	}
	return plot.CheckPath(o.plot)
}

// choose reads a comma-separated list of known words. "none" is the empty list.
func choose(flagName, list string, known []string) ([]string, error) {
	var chosen []string
	if list == "none" || list == "" {
		return nil, nil
	}
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimSpace(word)
		if !slices.Contains(known, word) {
			return nil, fmt.Errorf("%s: unknown %q; known: %s", flagName, word, strings.Join(known, ", "))
		}
		chosen = append(chosen, word)
	}
	return chosen, nil
}
