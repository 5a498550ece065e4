package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// comparison measures subjects in turn.
type comparison struct {
	subjects []subject
	plan     []job
	rounds   int
	cores    pin
	timeout  time.Duration // of each run
	dir      string        // for the lengths files
	progress *progress

	failed map[failure]bool
}

// failure is a job that a subject could not do. It isn't tried again: what fails
// once mostly does so by running into its time limit.
type failure struct {
	job     string
	subject string
}

// run measures every job with every subject in every round. Its error is the
// context's; what a subject can't do is told to progress and left out.
func (c *comparison) run(ctx context.Context) (*report, error) {
	c.failed = map[failure]bool{}
	result := &report{rounds: c.rounds, cores: c.cores, versions: map[string]string{}, when: time.Now()}
	for _, j := range c.plan {
		for _, s := range c.subjectsOf(j) {
			result.sheet(j.medium, j.quantity).reserve(j, s.name())
			if p, ok := s.(peer); ok {
				result.explain(p, j.medium)
			}
		}
	}
	for round := range c.rounds {
		for _, j := range c.plan {
			c.progress.start(round, c.rounds, j)
			for _, s := range c.subjectsOf(j) {
				if err := c.measure(ctx, j, s, result); err != nil {
					return nil, err
				}
			}
			c.progress.done()
		}
	}
	return result, nil
}

func (c *comparison) subjectsOf(j job) []subject {
	var able []subject
	for _, s := range c.subjects {
		if s.does(j) {
			able = append(able, s)
		}
	}
	return able
}

func (c *comparison) measure(ctx context.Context, j job, s subject, result *report) error {
	mark := failure{j.String(), s.name()}
	if c.failed[mark] {
		return nil
	}
	records, err := c.runOnce(ctx, j, s)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		c.failed[mark] = true
		c.progress.failed(s.name(), err)
		return nil
	}
	sheet := result.sheet(j.medium, j.quantity)
	for _, r := range records {
		sheet.add(place(j, r, s.name()), r.value(j))
		if r.Library != "" {
			result.versions[s.name()] = libraryName(r.Library)
		}
	}
	c.progress.measured(s.name())
	return nil
}

func (c *comparison) runOnce(ctx context.Context, j job, s subject) ([]record, error) {
	lengths, err := c.writeLengths(j)
	if err != nil {
		return nil, err
	}
	before := countTraffic()
	records, err := s.run(ctx, j, setting{lengths, c.cores, c.timeout, c.progress})
	if err != nil {
		return nil, err
	}
	if err := j.checkTraffic(before, countTraffic()); err != nil {
		return nil, err
	}
	return pick(records, j)
}

func (c *comparison) writeLengths(j job) (path string, err error) {
	var text strings.Builder
	for _, length := range j.lengths {
		fmt.Fprintln(&text, length)
	}
	path = filepath.Join(c.dir, "lengths")
	return path, os.WriteFile(path, []byte(text.String()), 0o600)
}
