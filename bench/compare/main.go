package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"

	"gomx/bench/compare/internal/socket"
	"gomx/bench/internal/child"
	"gomx/internal/cmdline"
)

// Exit statuses.
const (
	exitGood   = 0
	exitFailed = 1 // something could not be measured or written
	exitUsage  = 2
)

func main() {
	if socket.IsChild() {
		os.Exit(socket.Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	ctx, stop := signal.NotifyContext(context.Background(), child.EndSignals...)
	status := compare(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// compare is the whole program, with what it talks to as arguments.
func compare(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args)
	if answer, asked := cmdline.Answer(err, helpText); asked {
		fmt.Fprint(stdout, answer)
		return exitGood
	}
	if err != nil {
		fmt.Fprintf(stderr, "compare: %v\n", err)
		return exitUsage
	}
	complete, err := compareWith(ctx, o, stdout, stderr)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "\ncompare: interrupted; nothing is left running")
		return exitFailed
	case err != nil:
		fmt.Fprintf(stderr, "compare: %v\n", err)
		return exitFailed
	case !complete:
		fmt.Fprintln(stderr, "compare: the tables are not complete: see the failures above")
		return exitFailed
	}
	return exitGood
}

// compareWith measures and prints. It is not complete if a subject failed.
func compareWith(ctx context.Context, o *options, stdout, stderr io.Writer) (complete bool, err error) {
	dir, err := os.MkdirTemp("", "gomx-compare-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	tell := &progress{w: stderr, verbose: o.verbose}
	plan := planFor(o.media, o.only)
	subjects, built, err := buildSubjects(ctx, o, plan, dir, tell)
	if err != nil {
		return false, err
	}
	c := &comparison{
		subjects: subjects, plan: plan, rounds: o.rounds, cores: o.cores,
		timeout: o.timeout, dir: dir, progress: tell,
	}
	result, err := c.run(ctx)
	if err != nil {
		return false, err
	}
	if doubt := result.restlessness(); doubt != "" {
		tell.note("%s", doubt)
	}
	if err := o.write(stdout, result); err != nil {
		return false, err
	}
	if o.plot != "" {
		if err := result.draw(o.plot); err != nil {
			return false, err
		}
	}
	return built && len(c.failed) == 0, nil
}

// buildSubjects makes the measuring programs. Without gomx there is nothing to
// compare, so that is an error; a peer that is lacking or doesn't compile is
// left out, and all is false for the latter.
func buildSubjects(ctx context.Context, o *options, plan []job, dir string, tell *progress) (subjects []subject, all bool, err error) {
	peers, lacking := findPeers(o.rig, o.peers, plan)
	for _, err := range lacking {
		tell.note("%v; left out", err)
	}
	gomx := &pingpong{path: o.pingpong}
	if err := gomx.build(ctx, dir); err != nil {
		return nil, false, err
	}
	subjects, all = append(subjects, gomx, &pingpong{path: gomx.path, anyThread: true}), true
	if ranks := (&facade{folder: o.programs}); slices.ContainsFunc(plan, ranks.does) {
		if err := ranks.build(ctx, dir); err != nil {
			return nil, false, err
		}
		subjects = append(subjects, ranks, &facade{folder: ranks.folder, anyThread: true}, &pingpong{path: gomx.path, beside: true})
	}
	for _, peer := range peers {
		if err := peer.build(ctx, dir); err != nil {
			tell.note("%v; left out", err)
			all = false
			continue
		}
		subjects = append(subjects, peer)
	}
	return subjects, all, nil
}
