package main

import (
	"errors"
	"flag"
	"strconv"

	"gomx/cmd/internal/processes"
	"gomx/internal/cmdline"
	"gomx/mx"
)

const helpText = `mx_info says what gomx finds on this machine: its version, the boards, the limits,
the transports, whether large messages are copied once, what RDMA ports there are and
why one can't be used, and how other hosts are reached.

  mx_info            all of it
  mx_info -b 0       of the boards only number 0
  mx_info -env       the environment variables: default, value, where it comes from
  mx_info -live      the endpoints that processes of this user have open: where they listen,
                     the bounds that hold, how each peer is reached, or why not
  mx_info -want ordered,encrypted,size=1G,reach=network
                     the transports and boards that meet these wishes, best first, and why
                     the others do not
  mx_info -json      for programs; with -env, -live or -want these alone

  -b n     board number
  -env     environment variables
  -live    live endpoints; root sees those of all users
  -p pid   with -live: those of one process only
  -want wishes
           which transports and boards meet wishes, with commas between them: ordered,
           reliable, onesided, atomic, encrypted, heals, size=BYTES (or with K, M or G),
           latency=ns, us or ms at worst, reach=self, process, host or network at least
  -json    JSON instead of text
  -h       this text
  -version
           the version, and what built this program
  -completion shell
           the completion for bash, zsh or fish
`

type options struct {
	board     uint32
	oneBoard  bool
	env, json bool
	live      bool
	pid       int // 0: all
	wants     bool
	want      mx.Hints
}

// wishes is the value of -want.
type wishes struct{ o *options }

// String returns nothing: there is no default to show.
func (w wishes) String() string { return "" }

// Set reads the wishes.
func (w wishes) Set(s string) (err error) {
	w.o.wants = true
	w.o.want, err = mx.ParseHints(s)
	if e, ok := errors.AsType[*mx.Error](err); ok {
		err = e.Cause
	}
	return err
}

// Words are what completion offers.
func (w wishes) Words() []string { return mx.WishNames() }

// parseOptions reads the command line. Its error after -h, -version and -completion is
// for cmdline.Answer.
func parseOptions(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("mx_info", flag.ContinueOnError)
	flags.BoolVar(&o.env, "env", false, "")
	flags.BoolVar(&o.live, "live", false, "")
	flags.Func("p", "", processes.PID(&o.pid))
	flags.BoolVar(&o.json, "json", false, "")
	flags.Var(wishes{o}, "want", "")
	flags.Func("b", "", func(s string) error {
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			return errors.New("want a board number")
		}
		o.board, o.oneBoard = uint32(n), true
		return nil
	})
	_, err := cmdline.Parse(flags, args)
	switch {
	case err != nil:
		return nil, err
	case o.env && o.oneBoard:
		return nil, errors.New("-env has nothing to do with a board: leave -b out")
	case o.env && o.live:
		return nil, errors.New("-env and -live exclude each other: leave one out")
	case o.wants && (o.env || o.live):
		return nil, errors.New("-want excludes -env and -live: leave it or them out")
	case o.pid != 0 && !o.live:
		return nil, errors.New("-p has nothing to do without -live")
	}
	return o, nil
}
