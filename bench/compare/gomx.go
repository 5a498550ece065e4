package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"

	"gomx/bench/internal/child"
)

// pingpong measures gomx with mx_pingpong: as an MPI is that was started with
// MPI_Init, which means MPI_THREAD_SINGLE, or with endpoints that any goroutine may
// use; or beside ranks, to show what their messages cost without ranks.
type pingpong struct {
	path      string // of the executable; if empty, build makes one
	anyThread bool
	beside    bool
}

func (p *pingpong) name() string {
	switch {
	case p.beside:
		return endpointsName
	case p.anyThread:
		return anyThreadName
	}
	return gomxName
}

// does: what the locks cost is of interest where little else is done.
func (p *pingpong) does(j job) bool {
	if p.beside || j.ranks > 0 {
		return p.beside && slices.Equal(j.calls, halfRoundTrip)
	}
	return !p.anyThread || j.medium != tcp && (j.quantity == "latency" || j.quantity == "rate")
}

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

func (p *pingpong) run(ctx context.Context, j job, at setting) ([]record, error) {
	records, err := at.records(ctx, p.command(j, at))
	for i := range records {
		if j.ranks > 0 {
			records[i].Call, records[i].Ranks = halfRoundTrip[0].name, j.ranks
		}
	}
	return records, err
}

func (p *pingpong) command(j job, at setting) child.Command {
	args := []string{"-json", "-transport", string(j.medium)}
	if !p.anyThread {
		args = append(args, "-single")
	}
	args = append(args, j.args(at)...)
	if j.alloc {
		args = append(args, "-alloc")
	}
	return child.Command{Path: p.path, Args: args, Timeout: at.timeout}
}
