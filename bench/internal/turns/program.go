package turns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"gomx/bench/internal/child"
	"gomx/internal/cmdline"
)

// Program is what a program of rows is made of.
type Program struct {
	Name    string
	Help    string                  // what -h says before the flags
	Rounds  int                     // unless others are asked for
	Timeout time.Duration           // of one run, unless another one is asked for
	Rows    func(scale int) []Row   // in the order of the table; scale divides all counts
	Sheets  []Sheet                 // the tables of -markdown
	Plot    string                  // what -plot draws, and what its value is
	Draws   func(path string) error // nil if Draw can write there
	Draw    func(path string, t *Table) error

	// Quick programs have -quick, for the rows that say so.
	Quick bool

	// OursOnly has the program succeed whatever becomes of what gomx is measured beside.
	OursOnly bool
}

// Sheet is a table of a document.
type Sheet struct {
	Title string // before the figures' units
	Of    func(Row) bool
}

// Main is the whole program. It does not return if something fails.
func (p *Program) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), child.EndSignals...)
	err := p.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if _, err = cmdline.Answer(os.Stdout, err, p.Help); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
		os.Exit(1)
	}
}

// Run is the program with what it talks to as arguments. Its error after -h and the like is for cmdline.Answer; otherwise it
// says what of the table is missing, which is printed all the same.
func (p *Program) Run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := p.parse(args)
	if err != nil {
		return err
	}
	t, err := o.measure(ctx, stderr)
	if t == nil {
		return err
	}
	if o.plot != "" && (err == nil || p.OursOnly) && ctx.Err() == nil {
		err = errors.Join(err, p.Draw(o.plot, t))
	}
	return errors.Join(o.write(stdout, t), err)
}

// Wanted returns the rows that a command line has measured.
func (p *Program) Wanted(args ...string) ([]Row, error) {
	o, err := p.parse(args)
	if err != nil {
		return nil, err
	}
	return o.wanted(), nil
}

// Build builds what the rows need whose name matches only into a folder that is not there yet, for -programs. What this machine lacks
// is told to the log.
func (p *Program) Build(ctx context.Context, folder, only string, log io.Writer) error {
	o, err := p.parse([]string{"-only", only, "-busy", "-programs", folder})
	if err != nil {
		return err
	}
	return (&comparison{options: o, log: log}).build(ctx)
}

// measure builds the programs and runs them, unless the figures of earlier runs are asked for. Beside an error the table
// has what was measured until then.
func (o *options) measure(ctx context.Context, log io.Writer) (*Table, error) {
	if o.from != "" {
		return o.stored()
	}
	dir, err := os.MkdirTemp("", "gomx-"+o.program.Name+"-")
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
