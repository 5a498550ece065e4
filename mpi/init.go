package mpi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"gomx/mpi/launch"
	"gomx/mx"
)

// initialized says that Init has been called in this process, and joined what it has returned.
var (
	initialized atomic.Bool
	joined      atomic.Pointer[Comm]
)

// Init joins the job that the process was started in, and returns the communicator of all its
// ranks (MPI_Init). The process is one of them. What there is to find out about the job
// is taken from the launcher; without one the job has one rank. Where there are more ranks than cores, the
// process gets a single processor of Go's scheduler (GOMAXPROCS), unless that variable is set.
//
// Errors: ErrInit for the second call in a process, ErrLaunch if there is no way to the other ranks,
// ErrArg for a variable of the environment that makes no sense, ErrOther with what package mx says.
func Init(opts ...Option) (*Comm, error) {
	lj, set, err := find(opts)
	if err != nil {
		return nil, err
	}
	return initIn(lj, set)
}

// find asks the launcher, once in a process.
func find(opts []Option) (*launch.Job, settings, error) {
	set, err := settingsOf(opts)
	if err != nil {
		err = failOp("Init", ErrArg, "%w", err)
		if !initialized.Load() {
			announce(err)
		}
		return nil, set, err
	}
	if initialized.Swap(true) {
		return nil, set, joined.Load().fail("Init", ErrInit, "a process joins one job, once: hand on the communicator that the first call returned")
	}
	lj, err := launch.Find()
	if err != nil {
		return nil, set, failOp("Init", ErrLaunch, "%w", err)
	}
	if lj.Size() > maxRanks {
		return nil, set, failOp("Init", ErrLaunch, "%d ranks, there may be %d", lj.Size(), maxRanks)
	}
	return lj, set, nil
}

// initIn makes the world of a job.
func initIn(lj *launch.Job, set settings) (*Comm, error) {
	if err := useLibrary(); err != nil {
		lj.Fail(err.Error())
		return nil, failOp("Init", ErrOther, "%w", err)
	}
	if lj.Rank() == 0 {
		warnOfVariables()
	}
	j := newJob(lj.Size(), set, lj)
	if secret := lj.Secret(); secret != nil {
		j.set.params = append([]mx.Param{mx.WithSecret(secret)}, j.set.params...)
	}
	if err := j.join(); err != nil {
		j.close()
		leaveLibrary()
		lj.Fail(err.Error())
		if !errors.Is(err, ErrLaunch) {
			err = failOp("Init", ErrOther, "%w", err)
		}
		return nil, err
	}
	go j.labels("failures").Func(j.heed)()
	go j.labels("failures").Func(func() { j.guard(j.life) })()
	j.serveWaits()
	go j.labels("hangs").Func(j.watchHangs)()
	world := j.seats[0].world(j.allRanks())
	joined.Store(world)
	return world, nil
}

// join opens the endpoints of the process and makes them known.
func (j *job) join() error {
	if err := j.openService(); err != nil {
		return err
	}
	s, k, err := j.sit(j.launch.Rank())
	if s != nil {
		j.seats = []*seat{s}
	}
	if err != nil {
		return err
	}
	k.host = j.launch.HostID()
	all, err := j.launch.Exchange(context.Background(), k.append(nil))
	if a, ok := errors.AsType[*launch.Aborted](err); ok {
		j.exitAborted(a)
	}
	if err != nil {
		return failOp("Init", ErrLaunch, "%w", err)
	}
	s.ep.TraceJob(traceNumber(all), s.rank, j.size)
	j.businessCards = make([]businessCard, len(all))
	for rank, b := range all {
		if j.businessCards[rank], err = parseBusinessCard(b); err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	if err := errors.Join(j.agreeOnCheck(), j.agreeOnAlgorithms()); err != nil {
		return err
	}
	if err := j.checkReach(); err != nil {
		return err
	}
	if among := j.turns(j.launch.Rank()); among > 1 {
		takeTurns()
		j.seats[0].ep.TakeTurns(among)
	}
	return j.beginService()
}

// heed listens to what the launcher has to say.
func (j *job) heed() {
	lost, dead := j.launch.Lost(), j.launch.Dead()
	alone := dead != nil // without a launcher: the ranks meet at rank 0
	for lost != nil {
		select {
		case rank, ok := <-dead:
			if !ok {
				dead = nil
				continue
			}
			j.noteFailure(rank, hearsay("it has ended without Finalize")) // rank 0 tells all
		case <-lost:
			lost = nil
		}
	}
	why := j.launch.LostReason()
	if why == nil || j.seats[0].finalized.Load() {
		return
	}
	if a, ok := errors.AsType[*launch.Aborted](why); ok {
		j.exitAborted(a)
	}
	if alone {
		j.noteFailure(0, why)
		return
	}
	j.end(j.launch.Rank(), fmt.Errorf("%w: %w", ErrLaunch, why))
}

// exitAborted ends the process because a rank has aborted the job. One's own abort comes back, too. Several goroutines may hear of it.
func (j *job) exitAborted(a *launch.Aborted) {
	j.aborted.Do(func() {
		if a.Rank != j.launch.Rank() && !j.said.Load() {
			fmt.Fprintf(os.Stderr, "mpi: rank %d: %v\n", j.launch.Rank(), a)
		}
		os.Exit(exitCode(a.Code))
	})
}

// quitBound is how long a process that has aborted the job waits to be ended with the others. If it ended at once, they would
// first hear that it is gone.
const quitBound = time.Second

// quit ends the job, of which this process has printed why.
func (j *job) quit(code int, reason string) {
	j.said.Store(true)
	if j.launch.Dead() == nil {
		reason = "" // the launcher's line comes below that
	}
	j.abortAll(exitCode(code), reason)
}

// abortAll ends the job, and this process, with an exit code.
func (j *job) abortAll(code int, reason string) {
	j.launch.Abort(code, reason)
	j.awaitEnd(quitBound)
	j.ending.CompareAndSwap(nil, &ending{rank: j.launch.Rank(), cause: &abortReason{code, reason}}) // what its own calls say until it exits
	j.tellAborted(code, reason)
	os.Exit(code)
}

// tellAborted tells the other processes itself that this one aborts the job, if they have met without a launcher: rank 0, which should have told
// all, stands still, or is gone.
func (j *job) tellAborted(code int, reason string) {
	if j.launch.Dead() == nil {
		return
	}
	ctx, cancel := context.WithTimeout(j.life, quitBound)
	defer cancel()
	head := binary.LittleEndian.AppendUint64(nil, uint64(code))
	j.eachOther(func(rank int) {
		_ = j.control.Tell(ctx, rank, noteAborted, head, []byte(launch.Reason(reason))) // an error: it is gone, or stands still itself
	})
}

// awaitEnd gives the launcher, or the news of an abort, some time to end the process; none in a job of one rank.
func (j *job) awaitEnd(bound time.Duration) {
	if j.launch.Lost() == nil {
		return // there is nobody else
	}
	t := time.NewTimer(bound)
	defer t.Stop()
	select {
	case <-j.launch.Lost():
		if a, ok := errors.AsType[*launch.Aborted](j.launch.LostReason()); ok {
			j.exitAborted(a)
		}
	case <-t.C:
	}
}

// exitCode makes an exit code of an abort's: never that of a success.
func exitCode(code int) int {
	if code&0xff == 0 {
		return 1
	}
	return code & 0xff
}

// abortReason is the cause of the error of an Abort.
type abortReason struct {
	code   int
	reason string
}

func (a *abortReason) Error() string { return fmt.Sprintf("code %d: %s", a.code, a.reason) }

// statusFor is the exit status of a program that ends with an error of Main.
func statusFor(err error) int {
	if a, is := errors.AsType[*abortReason](err); is {
		return exitCode(a.code)
	}
	return 1
}

// Abort ends the whole job (MPI_Abort). If ranks are processes, every process exits with the code, or with 1 if that is
// 0, and the call does not return. At most 1000 bytes of the reason are printed, with escapes in the place of what a
// terminal would not print as it is; lines and tabs stay. If several ranks abort the job, or the program of another one
// has failed before, the first ends the job, and the others print their reasons only if it has not ended two seconds
// later. So does, below a launcher, a rank that knows of one that has died. If ranks are goroutines of one process, all
// calls return ErrAborted from then on, and Run returns it; Main exits with the code. Without a communicator Abort ends the process alone and says
// so; the other ranks notice its failure. Safe from any goroutine.
func (c *Comm) Abort(code int, reason string) {
	if err := c.usable("Abort"); c.none() {
		fmt.Fprintf(os.Stderr, "%v; aborted with code %d: %s\n", err, code, launch.Reason(reason))
		os.Exit(exitCode(code))
	}
	j := c.seat.job
	err := c.failWith("Abort", Undefined, Undefined, ErrAborted, &abortReason{code, launch.Reason(reason)})
	if j.launch == nil {
		j.end(c.seat.rank, err)
		return
	}
	if j.launch.Dead() == nil && j.failures.count.Load() > 0 || !j.failsFirst() { // without a launcher nobody else ends the job of one that has died
		j.awaitEnd(firstCauseGrace)
	}
	fmt.Fprintln(os.Stderr, err)
	j.quit(code, reason)
}

// Main is the main function of a program: it joins the job, calls f with the world, and finalizes. An error of f or of Main is
// printed with the rank, and ends the job with exit code 1. So does f if it ends its goroutine. A rank that fails because of
// another rank, or after another one, prints its error only if the job has not ended two seconds later, so that the first
// cause is printed once, also of a mistake that all ranks make. So does a rank other than 0 whose Init fails. If
// f has returned nil and Finalize fails because another rank has failed, the process exits with code 1 and does not end the
// others. With MX_LOCAL=n in the environment, and no launcher, the job is n goroutines in this process, like those of Run, and an Abort
// ends it with its code.
func Main(f func(world *Comm) error, opts ...Option) {
	if err := runMain(f, opts); err != nil {
		if launch.RankSaid() > 0 { // rank 0 has most likely made the same mistake, and the launcher then ends this process
			time.Sleep(firstCauseGrace)
		}
		fmt.Fprintln(os.Stderr, firstOf(err))
		os.Exit(statusFor(err))
	}
}

func runMain(f func(world *Comm) error, opts []Option) error {
	lj, set, err := find(opts)
	if err != nil {
		return err
	}
	if set.local > 0 && lj.Alone() {
		if err := lj.Finalize(); err != nil {
			return failOp("Main", ErrLaunch, "%w", err)
		}
		return Run(set.local, f, opts...)
	}
	world, err := initIn(lj, set)
	if err != nil {
		return err
	}
	returned := false
	defer func() {
		if !returned {
			go world.abandonUnlessPanics()
		}
	}()
	if err = f(world); err == nil && !world.seat.finalized.Load() {
		err = world.Finalize()
	}
	returned = true
	if err != nil {
		world.abandon(err)
	}
	return nil
}

// errNoGoroutine is how a rank has ended whose function did not return.
var errNoGoroutine = errors.New("its goroutine was ended")

// abandonUnlessPanics is for a program that has neither returned nor will: unless a panic ends the process, which it does at once and says where it
// comes from, its goroutine alone has ended.
func (c *Comm) abandonUnlessPanics() {
	time.Sleep(panicTime)
	c.abandon(errNoGoroutine)
}

// panicTime is longer than a panic takes to end a process.
const panicTime = 500 * time.Millisecond

// abandon ends the job because of what a rank's program has returned.
func (c *Comm) abandon(err error) {
	j := c.seat.job
	if errors.Is(err, ErrProcFailed) || errors.Is(err, ErrAborted) || j.failures.count.Load() > 0 || !j.failsFirst() {
		if c.seat.finalized.Load() {
			time.Sleep(firstCauseGrace) // the launcher has nothing to say any more, but may end the process
		} else {
			j.awaitEnd(firstCauseGrace)
		}
	}
	fmt.Fprintf(os.Stderr, "rank %d of %d: %v\n", c.rank, c.Size(), err)
	if c.seat.finalized.Load() {
		os.Exit(1) // the job is that of the others now
	}
	j.quit(1, err.Error())
}
