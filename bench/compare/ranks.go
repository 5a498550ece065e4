package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"gomx/bench/internal/child"
	"gomx/bench/internal/mpis"
)

// Tables of ranks: half a round trip between two, and collectives among more, by
// package mpi and by MPIs. Two are bound to a core each; more share the cores as the
// system sees fit.

// ranksQuantity is the word for -only of the table of so many ranks.
func ranksQuantity(ranks int) string { return fmt.Sprintf("%d-ranks", ranks) }

// call is what ranks do: the words of the measuring programs, and bytes.
type call struct {
	name  string
	bytes int
}

// line is the call's line in a table.
func (c call) line() string {
	switch c.name {
	case "pingpong":
		return "half round trip " + sizeName(c.bytes)
	case "barrier":
		return "Barrier"
	}
	return strings.ToUpper(c.name[:1]) + c.name[1:] + " " + sizeName(c.bytes)
}

var (
	halfRoundTrip = []call{{"pingpong", 8}}
	collectives   = []call{{"barrier", 0}, {"allreduce", 8}, {"allreduce", 4 << 10}, {"allreduce", 1 << 20},
		{"bcast", 64 << 10}, {"alltoall", 4 << 10}}
)

// collectiveLines are their lines.
func collectiveLines() (lines []string) {
	for _, c := range collectives {
		lines = append(lines, c.line())
	}
	return lines
}

// batchMs is how long a batch of calls takes at least: there are some 25 for each call.
const batchMs = 4

// rankArgs are the arguments that bench/collective and its counterpart for MPIs share.
func (j job) rankArgs(at setting) []string {
	words := make([]string, len(j.calls))
	for i, c := range j.calls {
		words[i] = fmt.Sprintf("%s:%d", c.name, c.bytes)
	}
	args := []string{"-calls", strings.Join(words, ","), "-batch", fmt.Sprint(batchMs)}
	if j.ranks == 2 {
		args = append(args, "-pin", at.cores.String())
	}
	// Even if this program is killed, the ranks end.
	return append(args, "-deadline", fmt.Sprint(int((at.timeout + deadlineSlack).Seconds())))
}

// pickCalls returns the record of every call asked for, in that order. It is an error if one is
// missing, twice there, or without a time.
func pickCalls(records []record, j job) ([]record, error) {
	picked := make([]record, 0, len(j.calls))
	for _, c := range j.calls {
		var found []record
		for _, r := range records {
			if r.Call == c.name && r.Length == c.bytes && r.Ranks == j.ranks {
				found = append(found, r)
			}
		}
		if len(found) != 1 || !(found[0].value(j) > 0) {
			return nil, fmt.Errorf("%d results for %s among %d ranks, want 1 with a time", len(found), c.line(), j.ranks)
		}
		picked = append(picked, found[0])
	}
	return picked, nil
}

// facade measures package mpi with bench/collective, started by mx_run.
type facade struct {
	folder    string // of the two programs; if empty, build makes them
	anyThread bool
}

func (f *facade) name() string {
	if f.anyThread {
		return anyThreadName
	}
	return gomxName
}

// does: what the locks cost does not show where ranks share cores.
func (f *facade) does(j job) bool { return j.ranks == 2 || j.ranks > 0 && !f.anyThread }

func (f *facade) build(ctx context.Context, dir string) error {
	if f.folder != "" {
		return nil
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		return fmt.Errorf("building collective: %w", err)
	}
	for _, program := range []string{"gomx/cmd/mx_run", "gomx/bench/collective"} {
		build := child.Command{Path: tool, Args: []string{"build", "-o", dir, program}, Timeout: buildTimeout}
		if _, _, err := child.Run(ctx, build); err != nil {
			return fmt.Errorf("building %s (run this inside the module, or name a folder with -programs): %w", program, err)
		}
	}
	f.folder = dir
	return nil
}

func (f *facade) run(ctx context.Context, j job, at setting) ([]record, error) {
	return at.records(ctx, f.command(j, at))
}

func (f *facade) command(j job, at setting) child.Command {
	args := append([]string{"-n", fmt.Sprint(j.ranks), filepath.Join(f.folder, "collective")}, j.rankArgs(at)...)
	if !f.anyThread {
		args = append(args, "-single")
	}
	return child.Command{Path: filepath.Join(f.folder, "mx_run"), Args: args, Env: mpis.WithoutLaunchers(os.Environ()), Timeout: at.timeout}
}

// sharing says how ranks that are more than the cores are placed.
func sharing(ranks int) string {
	if ranks <= 2 {
		return "a core each"
	}
	return fmt.Sprintf("on %d cores", runtime.NumCPU())
}
