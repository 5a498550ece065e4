// Command mx_msg_loop sends messages of all lengths and alignments to and fro between endpoints of its own, and checks
// everything that arrives.
//
//	mx_msg_loop                      once through, over each transport that works here
//	mx_msg_loop -transport tcp -N 0  for ever, over TCP alone
//
// With -h it explains its flags. loop.go decides which messages there are, pair.go sends, receives and checks them.
//
// The exit status is 0 if all messages arrived as they were sent, 2 if one did not, and 1 for anything else.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"gomx/bench/pingpong"
	"gomx/internal/cmdline"
	"gomx/mx"
)

// Exit statuses.
const (
	exitGood    = 0
	exitFailed  = 1
	exitCorrupt = 2
)

func main() { cmdline.Main(run) }

// run is the whole program, with what it talks to as arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args)
	asked, err := cmdline.Answer(stdout, err, helpText)
	if err == nil && !asked {
		err = loopOver(ctx, o, stdout, stderr)
	}
	if err == nil {
		return exitGood
	}
	fmt.Fprintln(stderr, "mx_msg_loop:", err)
	if errors.Is(err, pingpong.ErrCorrupt) {
		return exitCorrupt
	}
	return exitFailed
}

// loopOver goes through the messages over one transport after the other.
func loopOver(ctx context.Context, o *options, stdout, stderr io.Writer) (err error) {
	if err := mx.Init(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mx.Finalize()) }()
	mx.SetErrorHandler(mx.ErrorsReturn) // also with MX_ERRORS_ARE_FATAL: we report ourselves
	if !o.json {
		fmt.Fprintln(stdout, "transport      messages           bytes    longest    errors")
	}
	var corrupt error
	for _, transport := range o.transports {
		l := &loop{o: o, progress: stderr, total: total{Transport: transport}}
		err := l.run(ctx)
		if printed := l.total.print(stdout, o.json); err == nil {
			err = printed
		}
		switch {
		case err != nil:
			return fmt.Errorf("transport %s: %w", transport, err)
		case l.corrupt != nil && corrupt == nil:
			corrupt = fmt.Errorf("transport %s: %w", transport, l.corrupt)
		}
		if ctx.Err() != nil || corrupt != nil && !o.goOn {
			break
		}
	}
	return corrupt
}

// total is what has been sent over a transport.
type total struct {
	Transport string `json:"transport"`
	Messages  uint64 `json:"messages"`
	Bytes     uint64 `json:"bytes"`
	Longest   int    `json:"longest"` // bytes
	Errors    uint64 `json:"errors"`  // messages that did not arrive as they were sent
}

func (t *total) print(to io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(to).Encode(t)
	}
	_, err := fmt.Fprintf(to, "%-9s %13d %15d %10d %9d\n", t.Transport, t.Messages, t.Bytes, t.Longest, t.Errors)
	return err
}
