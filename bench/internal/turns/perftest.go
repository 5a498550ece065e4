package turns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gomx/bench/internal/child"
)

// perftest is one of the programs of the package of that name, which measure verbs
// with nothing on top of them. Its server and its client are bound to the two cores.
type perftest struct {
	program string
	traffic Traffic
	rig     rig

	// Filled in by locate.
	path, taskset string
}

// perftests are those of pings and of windows.
func perftests(r rig) (all []*subject) {
	for _, p := range []*perftest{
		{program: "ib_send_lat", traffic: Pings, rig: r},
		{program: "ib_write_lat", traffic: Pings, rig: r},
		{program: "ib_read_bw", traffic: Windows, rig: r},
		{program: "ib_write_bw", traffic: Windows, rig: r},
	} {
		all = append(all, &subject{name: p.program, perftest: p})
	}
	return all
}

func (p *perftest) locate() (err error) {
	if p.path, err = exec.LookPath(p.program); err != nil {
		return fmt.Errorf("not installed: no %s in PATH", p.program)
	}
	if p.taskset, err = exec.LookPath("taskset"); err != nil {
		return errors.New("not installed: no taskset in PATH, which binds it to a core")
	}
	return nil
}

// attempts is how often a measurement is made anew that came to no figure.
const attempts = 10

// errNoClock says that the program could not find out how fast its clock runs, as
// happens on a busy or emulated machine. What it prints then is "inf".
var errNoClock = errors.New("its clock was too uneven to measure anything")

// measure returns the typical half of a round trip, which is a median of single ones, or the time that a message of a
// stream takes on average; of processor time it knows nothing.
func (p *perftest) measure(ctx context.Context, r Row, timeout time.Duration) (f *found, err error) {
	for range attempts {
		var out []byte
		if out, err = p.exchange(ctx, r, timeout); err != nil {
			return nil, err
		}
		if f, err = p.parse(out, r.Length); !errors.Is(err, errNoClock) {
			break
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", p.program, err)
	}
	return f, err
}

// exchange runs a server and a client, and returns what the client printed.
func (p *perftest) exchange(ctx context.Context, r Row, timeout time.Duration) ([]byte, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	ctx, dismiss := context.WithCancel(ctx)
	defer dismiss()
	served := make(chan error, 1)
	go func() {
		_, _, err := child.Run(ctx, p.command(r, port, timeout, 1))
		served <- err
	}()
	client := p.command(r, port, timeout, 0, "127.0.0.1")
	for end := time.Now().Add(timeout); ; {
		out, complaints, err := child.Run(ctx, client)
		if err == nil {
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

// command is a server's, or with a host to connect to a client's. The number of exchanges is that of the row.
func (p *perftest) command(r Row, port int, timeout time.Duration, core int, host ...string) child.Command {
	exchanges := r.number("-count")
	if r.Traffic == Windows {
		exchanges *= 64
	}
	args := []string{
		"-c", strconv.Itoa(core), p.path, "-F", "-d", p.rig.device, "-s", strconv.Itoa(max(1, r.Length)),
		"-n", strconv.Itoa(max(minExchanges, exchanges)), "-p", strconv.Itoa(port),
	}
	if p.rig.gid >= 0 {
		args = append(args, "-x", strconv.Itoa(p.rig.gid))
	}
	return child.Command{Path: p.taskset, Args: append(args, host...), Timeout: timeout}
}

// minExchanges is what the programs want at least.
const minExchanges = 5

// number is what the row gives its program for an option, 0 for none.
func (r Row) number(option string) int {
	if i := slices.Index(r.Args, option); i >= 0 && i+1 < len(r.Args) {
		n, _ := strconv.Atoi(r.Args[i+1])
		return n
	}
	return 0
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
func (p *perftest) parse(out []byte, length int) (*found, error) {
	const typical, averageRate = 2, 1
	m := resultLine.FindSubmatch(out)
	if m == nil || string(m[1]) != strconv.Itoa(max(1, length)) {
		return nil, fmt.Errorf("no result for %s in what it printed", Size(length))
	}
	column := typical
	if p.traffic == Windows {
		column = averageRate
	}
	columns := strings.Fields(string(m[2]))
	if column >= len(columns) {
		return nil, fmt.Errorf("unreadable result %q", m[0])
	}
	value, err := strconv.ParseFloat(strings.TrimPrefix(columns[column], "-"), 64) // -nan
	switch {
	case err != nil:
		return nil, fmt.Errorf("unreadable result %q: %w", m[0], err)
	case !(value > 0) || math.IsInf(value, 0):
		return nil, errNoClock
	case p.traffic == Windows: // from MiB/s
		value = float64(max(1, length)) / (1 << 20) / value * 1e6
	}
	return &found{value: value, ops: 1}, nil
}
