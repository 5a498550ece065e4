package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"gomx/bench/pingpong"
	"gomx/bench/plot"
	"gomx/cmd/internal/sides"
	"gomx/internal/cmdline"
	"gomx/mx"
)

// Lengths measured by default. With -d they are MX's.
const (
	defaultEnd   = 4<<20 + 1
	defaultEndMX = 128
)

type options struct {
	at   sides.Flags
	plan pingpong.Plan

	mode          string
	steps         pingpong.Steps
	lengthsFile   string
	asJSON, asCSV bool
	picture       string

	given map[string]bool // the flags that were set
}

// parseOptions reads the command line. Its error after -h, -version and -completion is
// for cmdline.Answer.
func parseOptions(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("mx_pingpong", flag.ContinueOnError)
	o.defineMessages(flags)
	o.at.Define(flags)
	o.defineRest(flags)
	var err error
	if o.given, err = cmdline.Parse(flags, args); err != nil {
		return nil, err
	}
	if err := o.conflicts(); err != nil {
		return nil, err
	}
	return o, o.complete()
}

func (o *options) defineMessages(flags *flag.FlagSet) {
	flags.IntVar(&o.steps.Start, "S", 0, "")
	flags.IntVar(&o.steps.End, "E", 0, "")
	flags.IntVar(&o.steps.Add, "I", 0, "")
	flags.Float64Var(&o.steps.Factor, "M", 0, "")
	flags.StringVar(&o.lengthsFile, "L", "", "")
	flags.IntVar(&o.plan.Iterations, "N", 0, "")
	flags.IntVar(&o.plan.Warmup, "W", -1, "")
	flags.BoolVar(&o.plan.Sync, "R", false, "")
	flags.BoolVar(&o.plan.Verify, "V", false, "")
	flags.IntVar(&o.plan.Window, "window", 0, "")
	flags.IntVar(&o.plan.Posted, "posted", 0, "")
	flags.IntVar(&o.plan.Unexpected, "unexpected", 0, "")
	flags.BoolVar(&o.plan.Alloc, "alloc", false, "")
	flags.StringVar(&o.mode, "mode", "message", "")
	flags.BoolVar(&o.plan.Histogram, "histogram", false, "")
}

func (o *options) defineRest(flags *flag.FlagSet) {
	flags.BoolVar(&o.asJSON, "json", false, "")
	flags.BoolVar(&o.asCSV, "csv", false, "")
	flags.StringVar(&o.picture, "plot", "", "")
}

// ofSender are flags that a receiver has no use for, and exclusive those that can't be given together.
var (
	ofSender  = []string{"S", "E", "I", "M", "L", "N", "W", "R", "V", "window", "posted", "unexpected", "alloc", "mode", "histogram", "json", "csv", "plot"}
	exclusive = [][2]string{
		{"L", "S"}, {"L", "E"}, {"L", "I"}, {"L", "M"}, {"I", "M"}, {"json", "csv"},
		{"mode", "window"}, {"mode", "posted"}, {"mode", "unexpected"}, {"mode", "R"}, {"mode", "V"}, {"histogram", "window"},
	}
)

func (o *options) conflicts() error {
	if err := o.at.Conflicts(o.given, ofSender, exclusive); err != nil {
		return err
	}
	for name, value := range map[string]int{"N": o.plan.Iterations, "window": o.plan.Window, "posted": o.plan.Posted, "unexpected": o.plan.Unexpected} {
		if o.given[name] && value < 1 {
			return fmt.Errorf("-%s %d: want a number above 0", name, value)
		}
	}
	switch {
	case o.given["window"] && o.given["plot"]:
		return errors.New("-window and -plot exclude each other: a picture shows latency, which a window has none of")
	case o.given["W"] && o.plan.Warmup < 0:
		return fmt.Errorf("-W %d: want 0 or more", o.plan.Warmup)
	case o.given["I"] && o.steps.Add < 1:
		return fmt.Errorf("-I %d: want a number above 0", o.steps.Add)
	case o.given["mode"] && o.mode != string(pingpong.Put) && o.mode != string(pingpong.Get) && o.mode != string(pingpong.Atomic) && o.mode != "message":
		return fmt.Errorf("-mode %q: want message, put, get or atomic", o.mode)
	case o.picture != "":
		return plot.CheckPath(o.picture)
	}
	if o.mode != "message" {
		o.plan.OneSided = pingpong.OneSided(o.mode)
	}
	return nil
}

// complete fills in what was left open, which depends on what was not.
func (o *options) complete() error {
	if err := o.at.Complete(o.given); err != nil || o.at.Setup.Serve {
		return err
	}
	lengths, err := o.lengths()
	if err != nil {
		return err
	}
	o.plan.Lengths = lengths
	return o.plan.Check()
}

func (o *options) lengths() ([]int, error) {
	if o.given["L"] {
		return readLengths(o.lengthsFile)
	}
	atomic, far := o.plan.OneSided == pingpong.Atomic, o.at.Setup.Host != ""
	if atomic && !o.given["S"] {
		o.steps.Start = 8
	}
	switch {
	case o.given["E"]:
	case atomic:
		o.steps.End = mx.MaxAtomic + 1
	case far:
		o.steps.End = defaultEndMX
	default:
		o.steps.End = defaultEnd
	}
	if !o.given["I"] && !o.given["M"] {
		o.steps.Factor = 2
		if far && !atomic {
			o.steps.Add = 1
		}
	}
	return o.steps.Lengths()
}

func readLengths(path string) ([]int, error) {
	file := os.Stdin
	if path != "-" {
		var err error
		if file, err = os.Open(path); err != nil {
			return nil, fmt.Errorf("-L: %w", err)
		}
		defer file.Close()
	}
	lengths, err := pingpong.ReadLengths(file)
	if err != nil {
		return nil, fmt.Errorf("-L %s: %w", path, err)
	}
	return lengths, nil
}
