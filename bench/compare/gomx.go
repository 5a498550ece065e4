package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	"gomx/bench/compare/internal/child"
)

// pingpong measures gomx with mx_pingpong.
type pingpong struct {
	path string // of the executable; if empty, build makes one
}

func (p *pingpong) name() string { return gomxName }

func (p *pingpong) does(job) bool { return true }

func (p *pingpong) build(ctx context.Context, dir string) error {
	if p.path != "" {
		return nil
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		return fmt.Errorf("building mx_pingpong: %w", err)
	}
	path := filepath.Join(dir, "mx_pingpong")
	build := child.Command{Path: tool, Args: []string{"build", "-o", path, "gomx/cmd/mx_pingpong"}, Timeout: buildTimeout}
	if _, _, err := child.Run(ctx, build); err != nil {
		return fmt.Errorf("building mx_pingpong (run this inside the module, or name one with -gomx): %w", err)
	}
	p.path = path
	return nil
}

func (p *pingpong) command(j job, at setting) child.Command {
	args := append([]string{"-json", "-transport", string(j.medium)}, j.args(at)...)
	if j.alloc {
		args = append(args, "-alloc")
	}
	return child.Command{Path: p.path, Args: args, Timeout: at.timeout}
}
