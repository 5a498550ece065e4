package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"gomx/bench/internal/child"
	"gomx/internal/cmdline"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), child.EndSignals...)
	err := compare(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if answer, asked := cmdline.Answer(err, helpText); asked {
		fmt.Print(answer)
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// compare is the whole program, with what it talks to as arguments.
func compare(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	t, err := o.measure(ctx, stderr)
	if t == nil {
		return err
	}
	if o.plot != "" && err == nil {
		err = t.draw(o.plot)
	}
	return errors.Join(o.write(stdout, t), err)
}

// measure builds the programs and runs them, unless the figures of earlier runs are asked for. Beside an error the table
// has what was measured until then.
func (o *options) measure(ctx context.Context, log io.Writer) (*table, error) {
	if o.from != "" {
		return o.stored()
	}
	dir, err := os.MkdirTemp("", "gomx-compare-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	c := &comparison{options: o, dir: dir, log: log}
	if err := c.build(ctx); err != nil {
		return nil, err
	}
	t, err := c.run(ctx)
	if err == nil && c.failures > 0 {
		err = fmt.Errorf("the table is not complete: %d failed", c.failures)
	}
	return t, err
}
