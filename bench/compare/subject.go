package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"gomx/bench/internal/child"
)

// gomxName is gomx's column in every table, anyThreadName that of gomx with locks, and endpointsName
// that of bare endpoints where ranks are measured.
const (
	gomxName      = "gomx"
	anyThreadName = "gomx, any thread"
	endpointsName = "mx"
)

// subject is something that can be measured.
type subject interface {
	// name is the subject's column in the tables, and its word for -peers.
	name() string
	// does reports whether the subject has anything like what the job measures.
	does(j job) bool
	// build makes the measuring program in dir.
	build(ctx context.Context, dir string) error
	// run does the job, and returns what was measured.
	run(ctx context.Context, j job, at setting) ([]record, error)
}

// peer is a subject that gomx is compared with.
type peer interface {
	subject
	// locate returns nil, or what this machine lacks.
	locate() error
	// over says how the peer is made to use a medium; "" if it does so unasked.
	over(m medium) string
}

// setting is what all runs of a comparison share.
type setting struct {
	lengthsFile string        // holds the job's lengths, one a line
	cores       pin           // one for each process
	timeout     time.Duration // of each run
	progress    *progress     // hears of every command
}

// records runs a measuring program, and returns what it printed.
func (at setting) records(ctx context.Context, command child.Command) ([]record, error) {
	stdout, stderr, err := child.Run(ctx, command)
	at.progress.ran(command, stdout, stderr)
	records, bad := parseRecords(stdout)
	if err == nil && bad != nil {
		err = fmt.Errorf("%s: %w", filepath.Base(command.Path), bad)
	}
	return records, err
}
