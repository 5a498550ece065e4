package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
)

const helpText = `mx_info says what gomx finds on this machine: its version, the boards, the limits,
the transports, whether large messages are copied once, what RDMA ports there are and
why one can't be used, and how other hosts are reached.

  mx_info            all of it
  mx_info -b 0       of the boards only number 0
  mx_info -env       the environment variables: default, value, where it comes from
  mx_info -json      for programs; with -env the variables alone

  -b n     board number
  -env     environment variables
  -json    JSON instead of text
  -h       this text
`

type options struct {
	board     uint32
	oneBoard  bool
	env, json bool
}

// parseOptions reads the command line. After -h its error is flag.ErrHelp.
func parseOptions(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("mx_info", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&o.env, "env", false, "")
	flags.BoolVar(&o.json, "json", false, "")
	flags.Func("b", "", func(s string) error {
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			return errors.New("want a board number")
		}
		o.board, o.oneBoard = uint32(n), true
		return nil
	})
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w; -h explains the flags", err)
	case flags.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q; -h explains the flags", flags.Arg(0))
	case o.env && o.oneBoard:
		return nil, errors.New("-env has nothing to do with a board: leave -b out")
	}
	return o, nil
}
