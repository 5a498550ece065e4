package turns

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gomx/bench/internal/child"
	"gomx/bench/internal/figure"
	"gomx/bench/internal/mpis"
)

// comparison measures subjects in turn.
type comparison struct {
	*options
	dir      string
	log      io.Writer
	subjects []*subject
	absent   []*subject // what this machine lacks
	lacking  []string   // programs that can't be built here
	failures int
}

// run measures every row with every subject in every round. Its error is the context's, beside what was measured until then; what a subject can't do is told
// to the log and left out from then on.
func (c *comparison) run(ctx context.Context) (*Table, error) {
	ctx, end := c.amongNeighbours(ctx)
	defer end()
	t := c.emptyTable()
	for round := range c.rounds {
		fmt.Fprintf(c.log, "round %d of %d\n", round+1, c.rounds)
		said := time.Now()
		for i, l := range t.Lines {
			if time.Since(said) > sayEvery {
				said = time.Now()
				fmt.Fprintf(c.log, "round %d of %d, row %d of %d: %s\n", round+1, c.rounds, i+1, len(t.Lines), l.Name)
			}
			for k := range l.Cells {
				at := l.Cells[(round+k)%len(l.Cells)] // whoever comes first meets another machine than who follows
				c.leaveOut(t.Lines[:i], l, at)
				if at.failed || at.reason != "" {
					continue
				}
				f, err := c.measure(ctx, at.subject, l.Row)
				switch {
				case ctx.Err() != nil:
					return t, context.Cause(ctx)
				case err != nil:
					c.fail(l, at, err)
					fmt.Fprintf(c.log, "%s, %s, round %d: %v\n", l.Name, at.Name, round+1, err)
				default:
					at.add(f)
				}
			}
		}
	}
	return t, nil
}

// sayEvery is how long nothing is said of how far the measuring is.
const sayEvery = 5 * time.Second

// emptyTable has a line for each wanted row, and in it a cell for each subject that has a part in it.
func (c *comparison) emptyTable() *Table {
	t := &Table{Over: c.over, sheets: c.program.Sheets}
	for _, r := range c.wanted() {
		if slices.Contains(c.lacking, r.Program) {
			continue
		}
		l := &Line{Row: r}
		l.Bar = r.BarOver(c.over)
		for _, s := range c.subjects {
			if s.does(r, c.over) {
				l.Cells = append(l.Cells, &Cell{Name: s.name, subject: s, reason: r.Not[s.name]})
			}
		}
		for _, s := range c.absent {
			if s.does(r, c.over) {
				l.Cells = append(l.Cells, &Cell{Name: s.name, reason: s.absence.Error()})
			}
		}
		t.Lines = append(t.Lines, l)
	}
	return t
}

// leaveOut finds reasons not to measure a cell: too little memory, or that less of the same was too much already.
func (c *comparison) leaveOut(earlier []*Line, l *Line, at *Cell) {
	if at.failed || at.reason != "" || len(at.Values) > 0 {
		return
	}
	if free := availableMemory(); l.Memory > free {
		at.reason = fmt.Sprintf("takes %s of memory, and %s are available", roughly(l.Memory), roughly(free))
		return
	}
	for _, e := range earlier {
		if !e.onCurveOf(l.Row) {
			continue
		}
		for _, other := range e.Cells {
			if other.Name == at.Name && other.late {
				at.reason = "did not end in time with " + e.Name
			}
		}
	}
}

// fail takes down that a run has failed, which counts if it was gomx's, or if all shall succeed.
func (c *comparison) fail(l *Line, at *Cell, err error) {
	at.failed = true
	at.late = errors.Is(err, child.ErrTimeout)
	at.reason, _, _ = strings.Cut(err.Error(), "\n")
	if at.subject.ours() || !c.program.OursOnly {
		c.failures++
	}
}

func (at *Cell) add(f *found) {
	at.Values, at.CPU = append(at.Values, f.value), append(at.CPU, f.cpu)
	if f.library != "" {
		at.library = libraryName(f.library)
	}
}

// measure runs a program once, and makes sure that what it sent went over the medium that was asked for.
func (c *comparison) measure(ctx context.Context, s *subject, r Row) (f *found, err error) {
	if s.perftest != nil {
		return s.perftest.measure(ctx, r, c.timeout)
	}
	before, began := countTraffic(), time.Now()
	out, err := c.start(ctx, s, r)
	if err != nil {
		return nil, err
	}
	took := time.Since(began).Seconds()
	if f, err = sum(out, r.Shape == Goroutines); err == nil {
		err = r.check(r.medium(c.over), f.ops, before, countTraffic())
	}
	if err == nil && r.Whole {
		f.value = took
	}
	return f, err
}

// start runs a program, and returns what its processes have printed.
func (c *comparison) start(ctx context.Context, s *subject, r Row) (out []byte, err error) {
	program := s.program(r.Program)
	switch {
	case s.bare:
		args := append(slices.Clone(r.Args), "-over", r.medium(c.over))
		if c.free {
			args = append(args, "-free")
		}
		out, err = c.stdout(ctx, r, child.Command{Path: s.program(bareProgram), Args: args})
	case s.mpi != nil:
		out, err = c.runPeer(ctx, s.mpi, r, program)
	case r.Shape == Pair:
		out, err = c.runPair(ctx, s, r, program)
	case r.Shape == Goroutines:
		env := append(mpis.WithoutLaunchers(os.Environ()), fmt.Sprint("MX_LOCAL=", r.Ranks))
		out, err = c.stdout(ctx, r, child.Command{Path: program, Args: r.Args, Env: env})
	case r.Shape == Alone:
		out, err = c.stdout(ctx, r, child.Command{Path: program, Args: r.Args})
	default:
		args := []string{"-n", fmt.Sprint(r.Ranks)}
		if r.Ranks == 2 && !c.free {
			args = append(args, "-bind")
		}
		args = append(append(args, program), r.Args...)
		out, err = c.stdout(ctx, r, child.Command{Path: filepath.Join(s.folder, "mx_run"), Args: args, Env: mpis.WithoutLaunchers(os.Environ())})
	}
	return out, err
}

// runPeer starts the ranks of an MPI.
func (c *comparison) runPeer(ctx context.Context, m *mpis.MPI, r Row, program string) ([]byte, error) {
	var args, env []string
	switch r.medium(c.over) {
	case TCP:
		args, env = m.TCPArgs, m.TCPEnv
	case RDMA:
		args, env = m.RDMAArgs, c.rig.verbsVariables()
	}
	start := m.Start(r.Ranks, c.dir, args, env, append([]string{program}, r.Args...)...)
	// MPICH over UCX's TCP now and then does not come out of MPI_Finalize. Its figures are there by then.
	start.Enough = func(out []byte) bool { return len(figureLines(out)) == r.Ranks }
	start.Patience = 3 * time.Second // what is checked after the measuring is to come to its end
	out, err := c.stdout(ctx, r, start)
	return bytes.Join(figureLines(out), nil), err
}

// figureLines are those that the programs have printed, without what a launcher has to say.
func figureLines(out []byte) (lines [][]byte) {
	for line := range bytes.Lines(out) {
		if bytes.HasPrefix(line, []byte(`{"value"`)) {
			lines = append(lines, line)
		}
	}
	return lines
}

func (c *comparison) stdout(ctx context.Context, r Row, command child.Command) ([]byte, error) {
	command.Timeout = c.timeout
	if command.Env == nil {
		command.Env = os.Environ()
	}
	switch r.medium(c.over) { // MPIs do not know these
	case TCP:
		command.Env = append(command.Env, "MX_DISABLE_SHMEM=1")
	case RDMA:
		command.Env = append(command.Env, "MX_TRANSPORT=rdma")
	}
	out, _, err := child.Run(ctx, command)
	return out, err
}

// runPair starts a server and its client. Both are given a number of an endpoint or an address that nobody
// else is likely to have.
func (c *comparison) runPair(ctx context.Context, s *subject, r Row, program string) ([]byte, error) {
	args, bound := slices.Clone(r.Args), !c.free
	if r.Sockets {
		address, err := c.freeAddress(s.sockets)
		if err != nil {
			return nil, err
		}
		args, bound = append(args, "-address", address), false
	} else {
		args = append(args, "-endpoint", fmt.Sprint(2000+rand.IntN(2000)))
	}
	if s.sockets != "" {
		args = append(args, "-over", s.sockets)
	}
	both := [2]child.Command{{Path: program, Args: append([]string{"-serve"}, args...)}, {Path: program, Args: args}}
	if bound {
		taskset, err := exec.LookPath("taskset")
		if err != nil {
			return nil, fmt.Errorf("needs taskset of util-linux, or -free: %w", err)
		}
		for core := range both {
			both[core].Args = append([]string{"-c", fmt.Sprint(core), program}, both[core].Args...)
			both[core].Path = taskset
		}
	}
	// If one of them fails, the other one is ended.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var outs [2][]byte
	var errs [2]error
	var running sync.WaitGroup
	for i := range both {
		running.Go(func() {
			if outs[i], errs[i] = c.stdout(ctx, r, both[i]); errs[i] != nil {
				cancel()
			}
		})
	}
	running.Wait()
	return slices.Concat(outs[0], outs[1]), errors.Join(errs[:]...)
}

func (c *comparison) freeAddress(sockets string) (string, error) {
	if sockets == "unix" {
		return filepath.Join(c.dir, fmt.Sprint("socket", rand.Uint32())), nil
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}

// found is what a run has measured.
type found struct {
	value   float64
	ops     int
	cpu     float64 // processor time of all processes for each operation, us
	library string  // what an MPI says of itself
}

// sum adds up the lines that the processes of a run have printed. If they are of one process, each that says of its processor
// time says the same.
func sum(out []byte, oneProcess bool) (*found, error) {
	f := &found{}
	for text := range bytes.Lines(out) {
		var l figure.Line
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, fmt.Errorf("printed %q: %w", text, err)
		}
		if l.Ops > 0 {
			f.value, f.ops, f.library = l.Value, l.Ops, l.Library
		}
		if l.Ops == 0 && oneProcess {
			continue
		}
		f.cpu += l.CPUUs
	}
	if f.ops == 0 {
		return nil, fmt.Errorf("printed no figure, but %q", out)
	}
	f.cpu /= float64(f.ops)
	return f, nil
}
