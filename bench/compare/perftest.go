package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gomx/bench/internal/child"
	"gomx/bench/stats"
)

// perftest is one of the programs of the package of that name, which measure verbs
// with nothing on top of them. Its server and its client are bound to the two cores.
type perftest struct {
	program  string
	quantity string
	rig      rig

	// Filled in by locate.
	path, taskset string
}

const (
	sendLatency = "ib_send_lat"
	readStream  = "ib_read_bw"
)

func knownPerftests(r rig) []*perftest {
	return []*perftest{
		{program: sendLatency, quantity: "latency", rig: r},
		{program: "ib_write_lat", quantity: "latency", rig: r},
		{program: readStream, quantity: "bandwidth", rig: r},
		{program: "ib_write_bw", quantity: "bandwidth", rig: r},
	}
}

func (p *perftest) name() string { return p.program }

func (p *perftest) does(j job) bool { return j.medium == rdma && j.quantity == p.quantity }

func (p *perftest) locate() (err error) {
	if p.path, err = exec.LookPath(p.program); err != nil {
		return fmt.Errorf("not installed: no %s in PATH", p.program)
	}
	if p.taskset, err = exec.LookPath("taskset"); err != nil {
		return errors.New("not installed: no taskset in PATH, which binds it to a core")
	}
	return nil
}

func (p *perftest) over(m medium) string {
	switch {
	case m != rdma:
		return ""
	case p.quantity == "latency":
		return "each side bound with taskset; its typical time, which is the median of single exchanges"
	}
	return "each side bound with taskset; its average, in 10^6 bytes a second"
}

func (p *perftest) build(context.Context, string) error { return nil }

func (p *perftest) run(ctx context.Context, j job, at setting) ([]record, error) {
	var all []record
	for _, length := range j.lengths {
		r, err := p.measure(ctx, j, length, at)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// attempts is how often a measurement is made anew that came to no figure.
const attempts = 10

// errNoClock says that the program could not find out how fast its clock runs, as
// happens on a busy or emulated machine. What it prints then is "inf".
var errNoClock = errors.New("its clock was too uneven to measure anything")

func (p *perftest) measure(ctx context.Context, j job, length int, at setting) (r record, err error) {
	for range attempts {
		var out []byte
		if out, err = p.exchange(ctx, j, length, at); err != nil {
			return r, err
		}
		if r, err = p.parse(out, length); !errors.Is(err, errNoClock) {
			break
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", p.program, err)
	}
	return r, err
}

// exchange runs a server and a client, and returns what the client printed.
func (p *perftest) exchange(ctx context.Context, j job, length int, at setting) ([]byte, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	ctx, dismiss := context.WithCancel(ctx)
	defer dismiss()
	served := make(chan error, 1)
	go func() {
		_, _, err := child.Run(ctx, p.command(j, length, port, at, at.cores[1]))
		served <- err
	}()
	client := p.command(j, length, port, at, at.cores[0], "127.0.0.1")
	for end := time.Now().Add(at.timeout); ; {
		out, complaints, err := child.Run(ctx, client)
		if err == nil {
			at.progress.ran(client, out, complaints)
			return out, <-served
		}
		// The server may not listen yet.
		tooEarly := bytes.Contains(append(out, complaints...), []byte("Couldn't connect")) && time.Now().Before(end)
		select {
		case ended := <-served:
			return nil, errors.Join(err, ended)
		case <-time.After(50 * time.Millisecond):
		}
		if !tooEarly {
			dismiss()
			<-served
			return nil, err
		}
	}
}

// command is a server's, or with a host to connect to a client's.
func (p *perftest) command(j job, length, port int, at setting, core int, host ...string) child.Command {
	exchanges := j.iterations * max(1, j.window)
	args := []string{
		fmt.Sprintf("%x", 1<<core), p.path, "-F", "-d", p.rig.device, "-s", strconv.Itoa(length),
		"-n", strconv.Itoa(exchanges), "-p", strconv.Itoa(port),
	}
	if p.rig.gid >= 0 {
		args = append(args, "-x", strconv.Itoa(p.rig.gid))
	}
	return child.Command{Path: p.taskset, Args: append(args, host...), Timeout: at.timeout}
}

// freePort returns a TCP port of this host that nobody uses now.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// resultLine has bytes, iterations, and figures: least, most and typical microseconds
// and more, or peak and average MiB/s and more.
var resultLine = regexp.MustCompile(`(?m)^\s*(\d+)\s+\d+\s+(\S.*)$`)

// parse reads what a client printed.
func (p *perftest) parse(out []byte, length int) (record, error) {
	const typical, averageRate = 2, 1
	m := resultLine.FindSubmatch(out)
	if m == nil || string(m[1]) != strconv.Itoa(length) {
		return record{}, fmt.Errorf("no result for %s in what it printed", sizeName(length))
	}
	r := record{Transport: string(rdma), Length: length}
	column := typical
	if p.quantity == "bandwidth" {
		column = averageRate
	}
	columns := strings.Fields(string(m[2]))
	if column >= len(columns) {
		return record{}, fmt.Errorf("unreadable result %q", m[0])
	}
	value, err := strconv.ParseFloat(strings.TrimPrefix(columns[column], "-"), 64) // -nan
	switch {
	case err != nil:
		return record{}, fmt.Errorf("unreadable result %q: %w", m[0], err)
	case !(value > 0) || math.IsInf(value, 0):
		return record{}, errNoClock
	case p.quantity == "bandwidth":
		r.Bandwidth = value * (1 << 20) / 1e6
	default:
		r.Latency = &stats.Summary{P50: value}
	}
	return r, nil
}
