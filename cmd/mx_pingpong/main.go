// Command mx_pingpong measures how long messages take between two endpoints.
//
//	mx_pingpong              two processes on this host, 0 B to 4 MiB
//	mx_pingpong -s           on one host: the receiver
//	mx_pingpong -d HOST      on another: the sender, which measures
//
// With -h it explains its flags, which are those of MX's mx_pingpong and some
// more. It only reads flags and prints; gomx/bench/pingpong measures.
//
// The exit status is 0 if all was measured, 2 if a message arrived corrupt, and
// 1 for anything else.
package main

import (
	"context"
	"io"

	"gomx/bench/pingpong"
	"gomx/cmd/internal/sides"
)

func main() {
	program := sides.Program{Name: "mx_pingpong", Receives: "pingpong", Help: helpText, Parse: parse}
	program.Main()
}

func parse(args []string) (at *sides.Flags, measure func(context.Context, io.Writer) error, err error) {
	o, err := parseOptions(args)
	if err != nil {
		return nil, nil, err
	}
	return &o.at, o.measure, nil
}

func (o *options) measure(ctx context.Context, stdout io.Writer) error {
	p := o.newPrinter(stdout)
	if err := pingpong.Run(ctx, o.at.Setup, &o.plan, p.Watcher); err != nil {
		return err
	}
	return p.finish()
}
