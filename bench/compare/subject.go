package main

import (
	"context"
	"time"

	"gomx/bench/compare/internal/child"
)

// gomxName is gomx's column in every table.
const gomxName = "gomx"

// subject is something that can be measured.
type subject interface {
	// name is the subject's column in the tables, and its word for -peers.
	name() string
	// build makes the measuring program in dir.
	build(ctx context.Context, dir string) error
	// command is what runs the job.
	command(j job, at setting) child.Command
}

// setting is what all runs of a comparison share.
type setting struct {
	lengthsFile string        // holds the job's lengths, one a line
	cores       pin           // one for each process
	timeout     time.Duration // of each run
}
