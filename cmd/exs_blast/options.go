package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gomx/bench/pingpong"
	"gomx/bench/plot"
	"gomx/internal/cmdline"
)

// defaultPort is where a server listens.
const defaultPort = "7471"

// ownCoreSpin is how long to spin on a core that nobody else needs, where latency is
// measured.
const ownCoreSpin = time.Second

type options struct {
	serve      bool
	host, port string
	latency    bool
	steps      pingpong.Steps
	time       time.Duration
	count      int
	transports []string
	cores      []int
	spin       time.Duration
	asJSON     bool
	picture    string
	points     []order

	given map[string]bool // the flags that were set
	text  struct{ modes, types, inFlight, transports, pin string }
	tcp   bool
	sleep bool
}

// parseOptions reads the command line. Its error after -h, -version and -completion is
// for cmdline.Answer.
func parseOptions(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("exs_blast", flag.ContinueOnError)
	o.define(flags)
	var err error
	if o.given, err = cmdline.Parse(flags, args); err != nil {
		return nil, err
	}
	if err := o.conflicts(); err != nil {
		return nil, err
	}
	return o, o.complete()
}

func (o *options) define(flags *flag.FlagSet) {
	flags.BoolVar(&o.latency, "latency", false, "")
	flags.StringVar(&o.text.modes, "mode", "normal,small", "")
	flags.BoolVar(&o.tcp, "tcp", false, "")
	flags.StringVar(&o.text.types, "type", "packet,stream", "")
	flags.StringVar(&o.text.inFlight, "inflight", "1,2,4,8", "")
	flags.IntVar(&o.steps.Start, "S", 64, "")
	flags.IntVar(&o.steps.End, "E", 4<<20+1, "")
	flags.Float64Var(&o.steps.Factor, "M", 4, "")
	flags.DurationVar(&o.time, "t", 100*time.Millisecond, "")
	flags.IntVar(&o.count, "N", 0, "")
	flags.BoolVar(&o.serve, "s", false, "")
	flags.StringVar(&o.host, "d", "", "")
	flags.StringVar(&o.port, "p", defaultPort, "")
	flags.StringVar(&o.text.transports, "transport", "", "")
	flags.StringVar(&o.text.pin, "pin", "", "")
	flags.BoolVar(&o.sleep, "w", false, "")
	flags.DurationVar(&o.spin, "spin", 0, "")
	flags.BoolVar(&o.asJSON, "json", false, "")
	flags.StringVar(&o.picture, "plot", "", "")
}

// serverFlags are those that a server has; it takes the rest from its client.
var serverFlags = []string{"s", "p", "pin"}

func (o *options) conflicts() error {
	for name := range o.given {
		if o.serve && !slices.Contains(serverFlags, name) {
			return fmt.Errorf("-s and -%s exclude each other: a server takes its orders from the client", name)
		}
	}
	switch {
	case o.given["w"] && o.given["spin"]:
		return errors.New("-w and -spin exclude each other: leave one out")
	case o.given["N"] && o.given["t"]:
		return errors.New("-N and -t exclude each other: leave one out")
	case o.latency && o.given["inflight"]:
		return errors.New("-latency and -inflight exclude each other: latency is that of one message at a time")
	case o.given["N"] && o.count < 1:
		return fmt.Errorf("-N %d: want a number above 0", o.count)
	case o.time <= 0 || o.time > time.Hour:
		return fmt.Errorf("-t %v: want a duration above 0, and an hour at most", o.time)
	case o.given["spin"] && o.spin < 0:
		return fmt.Errorf("-spin %v: want a duration that is not negative", o.spin)
	case o.given["d"] && o.host == "":
		return errors.New("-d: want the name of the server's host")
	case o.given["p"] && !o.serve && o.host == "":
		return errors.New("-p: want -s or -d with it; the second process finds a port by itself")
	case o.picture != "":
		return plot.CheckPath(o.picture)
	}
	return nil
}

// complete fills in what was left open, and makes the plan.
func (o *options) complete() error {
	if n, err := strconv.ParseUint(o.port, 10, 16); err != nil || n == 0 && !o.serve {
		return fmt.Errorf("-p %s: want a port", o.port)
	}
	if err := o.chooseCores(); err != nil {
		return fmt.Errorf("-pin: %w", err)
	}
	if o.serve {
		return nil
	}
	if err := o.chooseTransports(); err != nil {
		return fmt.Errorf("-transport: %w", err)
	}
	o.chooseSpin()
	if o.latency {
		o.text.inFlight = "1"
		if !o.given["S"] {
			o.steps.Start = 8
		}
		if !o.given["E"] {
			o.steps.End = 1<<20 + 1
		}
	}
	lengths, err := o.steps.Lengths()
	if err != nil {
		return err
	}
	inFlight, err := parseNumbers(o.text.inFlight)
	if err != nil {
		return fmt.Errorf("-inflight: %w", err)
	}
	return o.plan(o.modes(), strings.Split(o.text.types, ","), inFlight, lengths)
}

func (o *options) chooseTransports() error {
	if o.text.transports == "" {
		return nil
	}
	o.transports = strings.Split(o.text.transports, ",")
	for _, name := range o.transports {
		if at := (pingpong.Setup{Transport: name}); at.Inside() {
			return fmt.Errorf("transport %s stays within one process, and this takes two", name)
		}
	}
	at := pingpong.Setup{Transport: o.text.transports}
	return at.Resolve()
}

func (o *options) modes() []string {
	list := strings.Split(o.text.modes, ",")
	switch {
	case o.tcp && !o.given["mode"]:
		return []string{modeTCP}
	case o.tcp && !slices.Contains(list, modeTCP):
		return append(list, modeTCP)
	}
	return list
}

func parseNumbers(text string) (numbers []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, fmt.Errorf("%q: want numbers, such as 1,8", text)
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

func (o *options) chooseCores() error {
	switch o.text.pin {
	case "none":
		return nil
	case "":
		o.cores = pingpong.TwoCores()
		return nil
	}
	cores, err := parseNumbers(o.text.pin)
	if err != nil || len(cores) != 2 {
		return fmt.Errorf("%q: want two cores, such as 0,1, or none", o.text.pin)
	}
	o.cores = cores
	return pingpong.CheckCores(cores)
}

func (o *options) chooseSpin() {
	switch {
	case o.sleep:
		o.spin = 0
	case o.given["spin"]:
	case o.latency && len(o.cores) == 2 && o.cores[0] != o.cores[1]:
		o.spin = ownCoreSpin
	default:
		o.spin = pingpong.LibrarySpin
	}
}
