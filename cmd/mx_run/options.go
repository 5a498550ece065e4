package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"gomx/internal/cmdline"
	"gomx/mx"
)

type options struct {
	ranks     int
	label     bool
	bind      bool
	transport string
	program   []string
}

// maxRanks is more than a host can hold.
const maxRanks = 1 << 16

// elsewhere are flags that other launchers have for hosts.
var elsewhere = []string{"f", "hostfile", "machinefile", "host", "hosts", "ppn", "H"}

const otherHosts = `-%[1]s: mx_run starts ranks on this host only; for several hosts:
  mpiexec.hydra -f HOSTFILE -n %[2]d %[3]s
  srun --mpi=pmi2 -n %[2]d %[3]s`

// parseOptions reads the command line. Its error after -h, -version and -completion is
// for cmdline.Answer.
func parseOptions(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("mx_run", flag.ContinueOnError)
	flags.IntVar(&o.ranks, "n", runtime.NumCPU(), "")
	flags.IntVar(&o.ranks, "np", runtime.NumCPU(), "")
	flags.BoolVar(&o.label, "l", false, "")
	flags.BoolVar(&o.bind, "bind", false, "")
	flags.StringVar(&o.transport, "transport", "", "")
	for _, name := range elsewhere {
		flags.String(name, "", cmdline.Hidden)
	}
	given, rest, err := cmdline.ParseBefore(flags, args)
	if err != nil {
		return nil, err
	}
	o.program = rest
	for _, name := range elsewhere {
		if given[name] {
			return nil, fmt.Errorf(otherHosts, name, max(o.ranks, 1), append(rest, "PROGRAM")[0])
		}
	}
	switch {
	case o.ranks < 1 || o.ranks > maxRanks:
		return nil, fmt.Errorf("-n %d: want a number of ranks from 1 to %d", o.ranks, maxRanks)
	case len(rest) == 0:
		return nil, errors.New("which program? mx_run -n 4 PROGRAM; -h explains more")
	case given["transport"]:
		return o, o.setTransport()
	}
	return o, nil
}

// setTransport leaves the choice to the ranks' environment, once mx has found that it makes sense.
func (o *options) setTransport() error {
	if err := os.Setenv("MX_TRANSPORT", o.transport); err != nil {
		return err
	}
	if _, err := mx.Environment(); err != nil {
		return fmt.Errorf("-transport: %w", err)
	}
	return nil
}

// buildGrace is the time that an interrupted go build has to remove what it has made.
const buildGrace = 3 * time.Second

// build returns the program to start. A folder is a Go package: it is built, and clean removes it.
func (o *options) build(ctx context.Context, stderr io.Writer) (program []string, clean func(), err error) {
	clean = func() {}
	if name := o.program[0]; filepath.Base(name) == name && name != "." && name != ".." {
		if _, err := exec.LookPath(name); err == nil {
			return o.program, clean, nil // as a shell would start it, also beside a folder of that name
		}
	}
	info, err := os.Stat(o.program[0])
	if err != nil || !info.IsDir() {
		return o.program, clean, nil
	}
	dir, err := os.MkdirTemp("", "mx_run")
	if err != nil {
		return nil, nil, fmt.Errorf("%s is a folder, and there is no place to build it: %w; TMPDIR names the folder for temporary files", o.program[0], err)
	}
	clean = func() { _ = os.RemoveAll(dir) }
	absolute, err := filepath.Abs(o.program[0])
	if err != nil {
		clean()
		return nil, nil, err
	}
	binary := filepath.Join(dir, filepath.Base(absolute))
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, ".")
	build.Cancel, build.WaitDelay = func() error { return build.Process.Signal(os.Interrupt) }, buildGrace
	build.Dir, build.Stdout, build.Stderr = absolute, stderr, stderr
	if err := build.Run(); ctx.Err() != nil {
		clean()
		return nil, nil, fmt.Errorf("a signal has come while go build made a program of %s: nothing was started", o.program[0])
	} else if err != nil {
		clean()
		return nil, nil, fmt.Errorf("%s is a folder, and go build of it fails: %w", o.program[0], err)
	}
	if info, err := os.Stat(binary); err == nil && info.Mode()&0o111 == 0 { // an archive: go build makes a program of package main only
		clean()
		return nil, nil, fmt.Errorf("%s is a folder whose Go package is no program: name the folder of a package main", o.program[0])
	}
	return append([]string{binary}, o.program[1:]...), clean, nil
}
