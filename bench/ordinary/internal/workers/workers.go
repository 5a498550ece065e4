// Package workers has several goroutines of a program of bench/ordinary do the same at a time.
package workers

import (
	"errors"
	"sync"
)

// Run calls f in n goroutines at a time and waits for all of them.
func Run(n int, f func() error) error {
	var running sync.WaitGroup
	errs := make([]error, n)
	for i := range errs {
		running.Go(func() { errs[i] = f() })
	}
	running.Wait()
	return errors.Join(errs...)
}

// Meeting is a point that nobody passes before all have come to it.
type Meeting struct {
	missing sync.WaitGroup
}

// NewMeeting makes a Meeting of n.
func NewMeeting(n int) *Meeting {
	m := &Meeting{}
	m.missing.Add(n)
	return m
}

// Come waits for the others.
func (m *Meeting) Come() {
	m.missing.Done()
	m.missing.Wait()
}
