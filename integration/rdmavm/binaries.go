package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// testBinary is the tests of a package.
type testBinary struct {
	name   string // the package's import path
	file   string // of the binary
	folder string // of the package
}

// inside returns where the package lies in the machine.
func (b testBinary) inside() string { return "/packages/" + b.name }

// builder runs the go command, which puts binaries into dir.
type builder struct {
	dir string
}

// lacks returns nil, or what building takes and this machine has not.
func (b builder) lacks(ctx context.Context) error {
	out, err := b.run(ctx, os.Environ(), "env", "CGO_ENABLED")
	if err == nil && strings.TrimSpace(string(out)) != "1" {
		err = errors.New("RDMA takes cgo and a C compiler, and go env CGO_ENABLED is not 1")
	}
	return err
}

// program builds a command of a package that matches pattern, and returns its file. Static ones
// need no library in the machine.
func (b builder) program(ctx context.Context, pattern string, static bool) (string, error) {
	file := filepath.Join(b.dir, filepath.Base(pattern))
	env := os.Environ()
	if static {
		env = append(env, "CGO_ENABLED=0")
	}
	_, err := b.run(ctx, env, "build", "-o", file, pattern)
	return file, err
}

// tests builds the tests of all packages that the patterns match. It is an error
// if one has no tests.
func (b builder) tests(ctx context.Context, patterns []string) (all []testBinary, err error) {
	out, err := b.run(ctx, os.Environ(), append([]string{"list", "-f", "{{.ImportPath}}\t{{.Dir}}"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		name, folder, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		t := testBinary{name: name, folder: folder, file: filepath.Join(b.dir, strings.ReplaceAll(name, "/", "_")+".test")}
		if _, err := b.run(ctx, os.Environ(), "test", "-c", "-o", t.file, name); err != nil {
			return nil, err
		}
		if _, err := os.Stat(t.file); err != nil {
			return nil, fmt.Errorf("%s has no tests", name)
		}
		all = append(all, t)
	}
	return all, nil
}

func (b builder) run(ctx context.Context, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = env
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return out, nil
}
