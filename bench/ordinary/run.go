package main

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
	"sync"

	"gomx/bench/internal/child"
	"gomx/bench/internal/mpis"
	"gomx/bench/ordinary/internal/figure"
)

// comparison measures subjects in turn.
type comparison struct {
	*options
	dir      string
	log      io.Writer
	subjects []*subject
	lacking  []string // programs that can't be built here
	failures int
}

// run measures every row with every subject in every round. Its error is the context's, beside what was measured until then; what a subject can't do is told
// to the log and left out from then on.
func (c *comparison) run(ctx context.Context) (*table, error) {
	ctx, end := c.amongNeighbours(ctx)
	defer end()
	t := &table{}
	for _, r := range c.wanted() {
		l := &line{row: r}
		for _, s := range c.subjects {
			if s.does(r) {
				l.cells = append(l.cells, &cell{subject: s})
			}
		}
		t.lines = append(t.lines, l)
	}
	for round := range c.rounds {
		for _, l := range t.lines {
			for _, at := range l.cells {
				if at.failed {
					continue
				}
				value, cpu, err := c.measure(ctx, at.subject, l.row)
				switch {
				case ctx.Err() != nil:
					return t, context.Cause(ctx)
				case err != nil:
					at.failed = true
					c.failures++
					fmt.Fprintf(c.log, "%s, %s, round %d: %v\n", l.name, at.subject.name, round+1, err)
				default:
					at.values, at.cpu = append(at.values, value), append(at.cpu, cpu)
				}
			}
		}
	}
	return t, nil
}

// measure runs a program once. It returns its figure, and the processor time of all processes for each operation.
func (c *comparison) measure(ctx context.Context, s *subject, r row) (value, cpu float64, err error) {
	var out []byte
	program := filepath.Join(s.folder, r.program)
	switch {
	case s.mpi != nil:
		out, err = c.runPeer(ctx, s.mpi, r, program)
	case r.shape == pair:
		out, err = c.runPair(ctx, s, r, program)
	case r.shape == alone:
		out, err = c.stdout(ctx, child.Command{Path: program, Args: r.args})
	default:
		args := []string{"-n", fmt.Sprint(r.ranks)}
		if r.ranks == 2 && !c.free {
			args = append(args, "-bind")
		}
		args = append(append(args, program), r.args...)
		out, err = c.stdout(ctx, child.Command{Path: filepath.Join(s.folder, "mx_run"), Args: args, Env: mpis.WithoutLaunchers(os.Environ())})
	}
	if err != nil {
		return 0, 0, err
	}
	return sum(out)
}

// runPeer starts the ranks of an MPI.
func (c *comparison) runPeer(ctx context.Context, m *mpis.MPI, r row, program string) ([]byte, error) {
	var args, env []string
	if c.tcp {
		args, env = m.TCPArgs, m.TCPEnv
	}
	out, err := c.stdout(ctx, m.Start(r.ranks, c.dir, args, env, append([]string{program}, r.args...)...))
	if errors.Is(err, child.ErrTimeout) {
		// MPICH over UCX's TCP now and then does not come out of MPI_Finalize. Its figures are there by then.
		if lines := figureLines(out); len(lines) == r.ranks {
			return bytes.Join(lines, nil), nil
		}
	}
	return out, err
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

func (c *comparison) stdout(ctx context.Context, command child.Command) ([]byte, error) {
	command.Timeout = c.timeout
	if c.tcp {
		if command.Env == nil {
			command.Env = os.Environ()
		}
		command.Env = append(command.Env, "MX_DISABLE_SHMEM=1") // MPIs do not know it
	}
	out, _, err := child.Run(ctx, command)
	return out, err
}

// runPair starts a server and its client. Both are given a number of an endpoint or an address that nobody
// else is likely to have.
func (c *comparison) runPair(ctx context.Context, s *subject, r row, program string) ([]byte, error) {
	args, bound := slices.Clone(r.args), !c.free
	if r.sockets {
		address, err := c.freeAddress(s.over)
		if err != nil {
			return nil, err
		}
		args, bound = append(args, "-address", address), false
	} else {
		args = append(args, "-endpoint", fmt.Sprint(2000+rand.IntN(2000)))
	}
	if s.over != "" {
		args = append(args, "-over", s.over)
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
			if outs[i], errs[i] = c.stdout(ctx, both[i]); errs[i] != nil {
				cancel()
			}
		})
	}
	running.Wait()
	return slices.Concat(outs[0], outs[1]), errors.Join(errs[:]...)
}

func (c *comparison) freeAddress(over string) (string, error) {
	if over == "unix" {
		return filepath.Join(c.dir, fmt.Sprint("socket", rand.Uint32())), nil
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}

// sum adds up the lines that the processes of a run have printed.
func sum(out []byte) (value, cpu float64, err error) {
	ops := 0
	for text := range bytes.Lines(out) {
		var l figure.Line
		if err := json.Unmarshal(text, &l); err != nil {
			return 0, 0, fmt.Errorf("printed %q: %w", text, err)
		}
		if l.Ops > 0 {
			value, ops = l.Value, l.Ops
		}
		cpu += l.CPUUs
	}
	if ops == 0 {
		return 0, 0, fmt.Errorf("printed no figure, but %q", out)
	}
	return value, cpu / float64(ops), nil
}
