package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"gomx/bench/pingpong"
	"gomx/bench/plot"
	"gomx/internal/cmdline"
	"gomx/mx"
)

// Lengths measured by default. With -d they are MX's.
const (
	defaultEnd   = 4<<20 + 1
	defaultEndMX = 128
)

// patience is how long a sender waits for the receiver's host to answer.
const patience = 10 * time.Second

// ownCoreSpin is how long to spin on a core that nobody else needs: longer than
// any message takes, shorter than anyone would like to heat a room.
const ownCoreSpin = time.Second

type options struct {
	setup pingpong.Setup
	plan  pingpong.Plan
	serve bool

	steps         pingpong.Steps
	lengthsFile   string
	pin           string
	block         bool
	spin          time.Duration
	asJSON, asCSV bool
	picture       string
	profile       string

	given map[string]bool // the flags that were set
}

// parseOptions reads the command line. Its error after -h, -version and -completion is
// for cmdline.Answer.
func parseOptions(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("mx_pingpong", flag.ContinueOnError)
	o.defineMessages(flags)
	o.definePlaces(flags)
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
}

func (o *options) definePlaces(flags *flag.FlagSet) {
	s := &o.setup
	s.Board, s.Endpoint, s.RemoteEndpoint = mx.AnyNIC, mx.AnyEndpoint, mx.AnyEndpoint
	s.Filter = pingpong.DefaultFilter
	s.Patience = patience
	flags.StringVar(&s.Transport, "transport", pingpong.Auto, "")
	flags.Var((*number)(&s.Board), "b", "")
	flags.Var((*nicID)(&s.NIC), "n", "")
	flags.Var((*number)(&s.Endpoint), "e", "")
	flags.StringVar(&s.Host, "d", "", "")
	flags.Var((*number)(&s.RemoteEndpoint), "r", "")
	flags.Var((*number)(&s.Filter), "f", "")
	flags.BoolVar(&o.serve, "s", false, "")
}

func (o *options) defineRest(flags *flag.FlagSet) {
	flags.StringVar(&o.pin, "pin", "", "")
	flags.BoolVar(&o.setup.Single, "single", false, "")
	flags.BoolVar(&o.block, "w", false, "")
	flags.DurationVar(&o.spin, "spin", 0, "")
	flags.BoolVar(&o.asJSON, "json", false, "")
	flags.BoolVar(&o.asCSV, "csv", false, "")
	flags.StringVar(&o.picture, "plot", "", "")
	flags.StringVar(&o.profile, "cpuprofile", "", "")
}

// exclusive are flags that can't be given together.
var exclusive = [][2]string{
	{"s", "d"}, {"s", "r"}, {"s", "S"}, {"s", "E"}, {"s", "I"}, {"s", "M"}, {"s", "L"}, {"s", "N"}, {"s", "W"}, {"s", "R"},
	{"s", "V"}, {"s", "window"}, {"s", "posted"}, {"s", "unexpected"}, {"s", "alloc"}, {"s", "json"}, {"s", "csv"}, {"s", "plot"},
	{"L", "S"}, {"L", "E"}, {"L", "I"}, {"L", "M"}, {"I", "M"},
	{"b", "n"}, {"w", "spin"}, {"json", "csv"}, {"window", "plot"},
}

func (o *options) conflicts() error {
	for _, pair := range exclusive {
		if !o.given[pair[0]] || !o.given[pair[1]] {
			continue
		}
		switch pair[0] {
		case "s":
			return fmt.Errorf("-s and -%s exclude each other: a receiver takes its orders from the sender", pair[1])
		case "window":
			return fmt.Errorf("-window and -plot exclude each other: a picture shows latency, which a window has none of")
		}
		return fmt.Errorf("-%s and -%s exclude each other: leave one out", pair[0], pair[1])
	}
	for name, value := range map[string]int{"N": o.plan.Iterations, "window": o.plan.Window, "posted": o.plan.Posted, "unexpected": o.plan.Unexpected} {
		if o.given[name] && value < 1 {
			return fmt.Errorf("-%s %d: want a number above 0", name, value)
		}
	}
	switch {
	case o.given["W"] && o.plan.Warmup < 0:
		return fmt.Errorf("-W %d: want 0 or more", o.plan.Warmup)
	case o.given["I"] && o.steps.Add < 1:
		return fmt.Errorf("-I %d: want a number above 0", o.steps.Add)
	case o.given["spin"] && o.spin < 0:
		return fmt.Errorf("-spin %v: want a duration that is not negative", o.spin)
	case o.given["d"] && o.setup.Host == "":
		return errors.New("-d: want the name of the receiver's host")
	case o.picture != "":
		return plot.CheckPath(o.picture)
	}
	return nil
}

// complete fills in what was left open, which depends on what was not.
func (o *options) complete() error {
	s := &o.setup
	if o.serve && !o.given["e"] {
		s.Endpoint = pingpong.DefaultReceiverEndpoint
	}
	if s.Host != "" && !o.given["r"] {
		s.RemoteEndpoint = pingpong.DefaultReceiverEndpoint
	}
	s.Serve = o.serve
	if err := s.Resolve(); err != nil {
		return fmt.Errorf("-transport: %w", err)
	}
	if o.serve && s.Inside() {
		return fmt.Errorf("-s: transport %s stays within one process, so nobody could reach a receiver: leave -s out, or take another transport", s.Transport)
	}
	if err := o.chooseCores(); err != nil {
		return fmt.Errorf("-pin: %w", err)
	}
	o.chooseSpin()
	if o.serve {
		return nil
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
	if !o.given["E"] {
		o.steps.End = defaultEnd
		if o.setup.Host != "" {
			o.steps.End = defaultEndMX
		}
	}
	if !o.given["I"] && !o.given["M"] {
		o.steps.Factor = 2
		if o.setup.Host != "" {
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

func (o *options) chooseCores() error {
	switch o.pin {
	case "none":
		return nil
	case "":
		o.setup.Cores = pingpong.TwoCores()
		return nil
	}
	first, second, ok := strings.Cut(o.pin, ",")
	var cores [2]number
	if !ok || cores[0].Set(first) != nil || cores[1].Set(second) != nil {
		return fmt.Errorf("%q: want two cores, such as 0,1, or none", o.pin)
	}
	o.setup.Cores = []int{int(cores[0]), int(cores[1])}
	return pingpong.CheckCores(o.setup.Cores)
}

func (o *options) chooseSpin() {
	cores := o.setup.Cores
	switch {
	case o.block:
		o.setup.Spin = 0
	case o.given["spin"]:
		o.setup.Spin = o.spin
	case len(cores) == 2 && cores[0] != cores[1]:
		o.setup.Spin = ownCoreSpin
	default:
		o.setup.Spin = pingpong.LibrarySpin
	}
}
