// Command mx_stream measures how much a stream of messages carries, one way or both ways at once.
//
//	mx_stream                two processes on this host, messages of 8 KiB
//	mx_stream -x             both ways at once
//	mx_stream -s             on one host: the receiver
//	mx_stream -d HOST        on another: the sender, which prints
//
// With -h it explains its flags, which are those of MX's mx_stream and some more. It only reads flags and prints;
// gomx/bench/pingpong measures.
//
// The exit status is 0 if all was measured, 2 if a message arrived corrupt, and 1 for anything else.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"gomx/bench/pingpong"
	"gomx/cmd/internal/sides"
	"gomx/mx"
)

func main() {
	program := sides.Program{Name: "mx_stream", Receives: "stream", Help: helpText, Parse: parse}
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
	return pingpong.Run(ctx, o.at.Setup, &o.plan, o.watcher(stdout))
}

// watcher prints results as they come, as a table or as one JSON object a line.
func (o *options) watcher(to io.Writer) pingpong.Watcher {
	if o.json {
		encoder := json.NewEncoder(to)
		return pingpong.Watcher{Began: func() error { return nil }, Result: func(r pingpong.Result) error { return encoder.Encode(r) }}
	}
	prelude := o.at.Prelude(o.plan.Iterations, "", mx.PeerInfo{})
	return pingpong.Watcher{
		Reached: func(way mx.PeerInfo) { prelude = o.at.Prelude(o.plan.Iterations, "", way) },
		Began: func() error {
			_, err := fmt.Fprintf(to, "%s\n         Length  Bandwidth(MB/s)  Messages/s\n", prelude)
			return err
		},
		Result: func(r pingpong.Result) error {
			if r.Receive != nil {
				printRow(to, "Send:", r.Length, r.Send.Bandwidth, r.Send.Rate)
				printRow(to, "Recv:", r.Length, r.Receive.Bandwidth, r.Receive.Rate)
			}
			return printRow(to, "Total:", r.Length, r.Bandwidth, r.Rate*1e6)
		},
	}
}

func printRow(to io.Writer, what string, length int, bandwidth, rate float64) error {
	_, err := fmt.Fprintf(to, "%-6s %8d  %15.3f  %10.0f\n", what, length, bandwidth, rate)
	return err
}
