package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gomx/integration/rdmavm/internal/plan"
)

// guestPackage is the program of the machine that does the work.
const guestPackage = "gomx/integration/rdmavm/guest"

// ownPrograms are always in the machine.
var ownPrograms = []string{"gomx/cmd/mx_info", "gomx/cmd/mx_pingpong", "gomx/cmd/mx_stream"}

// runAll fetches, builds, boots, and shows what became of the checks.
func runAll(ctx context.Context, o options) (err error) {
	cache, err := o.cacheFolder()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gomx-rdmavm-")
	if err != nil {
		return err
	}
	if o.keep {
		slog.Info("the files of the machines stay", "in", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	b := builder{dir: filepath.Join(dir, "bin")}
	if err := b.lacks(ctx); err != nil {
		return fmt.Errorf("%w: %w", errLacking, err)
	}
	c, checks, err := build(ctx, b, o)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	root, err := fetch(ctx, cache, machinePackages())
	if err != nil {
		return err
	}
	c.tools = roots{root, "/"}
	if c.mpi = o.mpi; o.mpi {
		if err := c.addMPI(ctx, b, cache); err != nil {
			return err
		}
	}
	kernel, err := c.openKernel(root)
	if err != nil {
		return err
	}
	var machines []*machine
	for number := 1; number <= o.hosts; number++ {
		m := &machine{number: number, dir: dir, root: root, kernel: kernel, output: os.Stdout, console: io.Discard}
		if o.verbose {
			m.console = os.Stderr
		}
		p := plan.Plan{Host: number, Hosts: o.hosts, Checks: checks}
		if err := writeImage(m.image(), c, p); err != nil {
			return fmt.Errorf("%w: %w", errLacking, err)
		}
		machines = append(machines, m)
	}
	return boot(ctx, machines, checks, o)
}

// build builds the binaries, and makes the checks that use them.
func build(ctx context.Context, b builder, o options) (c contents, checks []plan.Check, err error) {
	for _, pattern := range append([]string{guestPackage}, ownPrograms...) {
		file, err := b.program(ctx, pattern, pattern == guestPackage)
		if err != nil {
			return c, nil, err
		}
		c.programs = append(c.programs, file)
	}
	packages := o.packages
	switch {
	case len(o.packages) > 0:
	case len(o.args) > 0 || o.compare:
		line := append([]string(nil), o.args...)
		if o.compare {
			line = slices.Concat(compareCommand, o.args)
			for _, program := range comparedPrograms {
				file, err := b.program(ctx, program, false)
				if err != nil {
					return c, nil, err
				}
				c.programs = append(c.programs, file)
			}
		}
		if strings.HasPrefix(line[0], "./") {
			file, err := b.program(ctx, line[0], false)
			if err != nil {
				return c, nil, err
			}
			line[0] = filepath.Base(file)
			if !slices.Contains(c.programs, file) {
				c.programs = append(c.programs, file)
			}
		}
		return c, []plan.Check{programCheck(line, o)}, nil
	default:
		packages, checks = suitePackages, withLimits(toolChecks(o.hosts))
	}
	if len(packages) > 0 {
		if c.tests, err = b.tests(ctx, packages); err != nil {
			return c, nil, err
		}
	}
	for _, t := range c.tests {
		checks = append(checks, testCheck(t, o))
	}
	return c, checks, nil
}

// addMPI adds the packages of the MPIs, and what measures them.
func (c *contents) addMPI(ctx context.Context, b builder, cache string) error {
	root, err := fetch(ctx, cache, mpiPackages)
	if err != nil {
		return err
	}
	c.tools = slices.Insert(c.tools, 1, root)
	files, err := b.ranks(ctx, c.tools)
	if err != nil {
		return fmt.Errorf("%w: %w", errLacking, err)
	}
	c.programs = append(c.programs, files...)
	return nil
}

// openKernel returns the kernel's file, and keeps its modules.
func (c *contents) openKernel(root string) (file string, err error) {
	kernels, err := filepath.Glob(filepath.Join(root, "boot/vmlinuz-*"))
	if err != nil || len(kernels) != 1 {
		return "", fmt.Errorf("%w: %d kernels in %s, which should be deleted: %w", errLacking, len(kernels), root, err)
	}
	busybox, err := c.tools.program("busybox")
	if err != nil {
		return "", err
	}
	version := strings.TrimPrefix(filepath.Base(kernels[0]), "vmlinuz-")
	for _, folder := range []string{"lib/modules", "usr/lib/modules"} {
		if c.kernel, err = openModules(filepath.Join(root, folder, version), busybox); err == nil {
			return kernels[0], nil
		}
	}
	return "", fmt.Errorf("%w: %w", errLacking, err)
}

// boot runs the machines until the first one has done its work.
func boot(ctx context.Context, machines []*machine, checks []plan.Check, o options) error {
	limited, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	var results []plan.Result
	var failures []error
	var lock sync.Mutex
	done := false
	for _, m := range machines {
		m.hear = func(msg plan.Message) {
			lock.Lock()
			defer lock.Unlock()
			if msg.Result != nil {
				results = append(results, *msg.Result)
			}
			if msg.Failure != "" {
				failures = append(failures, fmt.Errorf("machine %d: %s", m.number, msg.Failure))
			}
			done = done || msg.Done
		}
	}
	others := machines[1:]
	var ended sync.WaitGroup
	helpers, dismiss := context.WithCancel(limited)
	for _, m := range others {
		ended.Go(func() {
			if err := m.boot(helpers, o.hosts); helpers.Err() == nil {
				lock.Lock()
				failures = append(failures, errors.Join(fmt.Errorf("machine %d has ended too early", m.number), err))
				lock.Unlock()
				cancel()
			}
		})
	}
	err := machines[0].boot(limited, o.hosts)
	dismiss()
	ended.Wait()
	passed := printTable(os.Stdout, checks, results)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w: a signal has ended the machines: %w", errFailed, ctx.Err())
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("killed after %v", o.timeout)
	case err == nil && done && passed:
		return nil
	case err == nil && done:
		return errFailed
	}
	for _, m := range machines {
		fmt.Fprintf(os.Stderr, "--- the end of the console of machine %d:\n%s\n---\n", m.number, m.lastWords())
	}
	return errors.Join(errFailed, errors.Join(failures...), err)
}
