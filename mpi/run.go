package mpi

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"gomx/mx"
)

// Run calls f once for each of n ranks, each in a goroutine of its own, and returns when
// all have returned. The world that f gets has the size n; f need not call Finalize.
//
// If f returns an error on some rank, panics there, or ends its goroutine, the others' calls
// return ErrAborted, naming that rank. Run returns the errors of all ranks that were
// not ended in this way, each with its rank, that of the rank that failed first before the others. Errors of its own: ErrArg for
// n < 1 or more ranks than a process can have endpoints, ErrOther with what package
// mx says.
func Run(n int, f func(world *Comm) error, opts ...Option) error {
	if n < 1 || n >= mx.MaxEndpoints {
		return failOp("Run", ErrArg, "%d ranks, there may be 1 to %d in a process", n, mx.MaxEndpoints-1)
	}
	set, err := settingsOf(append([]Option{WithTransports("mem")}, opts...))
	if err != nil {
		return failOp("Run", ErrArg, "%w", err)
	}
	warnOfVariables()
	if err := useLibrary(); err != nil {
		return failOp("Run", ErrOther, "%w", err)
	}
	defer leaveLibrary()
	j := newJob(n, set, nil)
	defer j.leave()
	if err := j.seatAll(); err != nil {
		return failOp("Run", ErrOther, "%w", err)
	}
	j.serveWaits()
	go j.labels("hangs").Func(j.watchHangs)()
	errs := make([]error, n)
	ranks := j.allRanks()
	var all sync.WaitGroup
	for i, s := range j.seats {
		all.Go(func() { s.work(f, s.world(ranks), &errs[i]) })
	}
	all.Wait()
	return j.verdict(errs)
}

// seatAll makes all ranks, in this process.
func (j *job) seatAll() error {
	if err := j.openService(); err != nil {
		return err
	}
	j.businessCards = make([]businessCard, 0, j.size)
	number := uint64(randomFilter())<<32 | uint64(randomFilter())
	for rank := range j.size {
		s, k, err := j.sit(rank)
		if s != nil {
			s.ep.TraceJob(number, rank, j.size)
			j.seats = append(j.seats, s)
		}
		if err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
		j.businessCards = append(j.businessCards, k)
	}
	if err := j.checkReach(); err != nil {
		return err
	}
	return j.beginService()
}

// work is the life of a rank that is a goroutine.
func (s *seat) work(f func(world *Comm) error, world *Comm, result *error) {
	*result = errNoGoroutine
	defer func() {
		if p := recover(); p != nil {
			*result = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if *result != nil {
			s.job.end(s.rank, *result)
		}
	}()
	err := f(world)
	if err == nil && !s.finalized.Load() {
		err = world.Finalize()
	}
	*result = err
}

// verdict joins the errors of the ranks, but for those that others have brought about. That of the rank that failed first is the first.
func (j *job) verdict(errs []error) error {
	var all []error
	end := j.ending.Load()
	aborted := end != nil && errors.Is(end.cause, ErrAborted)
	switch {
	case aborted: // and what the rank has returned nevertheless comes behind that
		all = append(all, &rankError{end.rank, end.cause})
	case end != nil:
		all = append(all, &rankError{end.rank, cmp.Or(errs[end.rank], end.cause)})
	}
	for rank, err := range errs {
		isFirst := end != nil && rank == end.rank && !aborted
		if err == nil || isFirst || end != nil && errors.Is(err, ErrAborted) {
			continue
		}
		all = append(all, &rankError{rank, err})
	}
	return errors.Join(all...)
}

// rankError is what the program of a rank has returned.
type rankError struct {
	rank int
	err  error
}

func (r *rankError) Error() string { return fmt.Sprintf("rank %d: %v", r.rank, r.err) }

// Unwrap returns what the program has returned.
func (r *rankError) Unwrap() error { return r.err }
