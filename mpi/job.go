package mpi

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gomx/mpi/internal/service"
	"gomx/mpi/launch"
	"gomx/mx"
)

// job is the part of a parallel program that is in this process: one rank, or all.
type job struct {
	size          int
	businessCards []businessCard // of all ranks
	seats         []*seat        // of those in this process
	set           settings

	control *controlPlane // what processes say to each other apart from messages
	launch  *launch.Job   // nil: the ranks are goroutines

	life   context.Context // ends with the job
	finish context.CancelFunc

	next     atomic.Uint32 // endpoint id to try first
	ending   atomic.Pointer[ending]
	failures failures
	telling  atomic.Int32 // failures of which the others are being told
	aborted  sync.Once    // the process ends because a rank has aborted the job
	said     atomic.Bool  // this process has printed why it ends the job

	hangReports atomic.Uint64 // made by this process
	hideWaits   func()        // takes what the ranks wait for from the sight of tools
}

// ending says why a job is at its end before its time. It is an error.
type ending struct {
	rank   int // who has brought it about
	cause  error
	closed chan struct{} // when the endpoints are; nil if the process exits
}

func (e *ending) Error() string { return fmt.Sprintf("rank %d of the world: %v", e.rank, e.cause) }
func (e *ending) Unwrap() error { return e.cause }

// newJob makes a job of so many ranks, none of which has a seat.
func newJob(size int, set settings, l *launch.Job) *job {
	j := &job{size: size, set: set, launch: l}
	j.life, j.finish = context.WithCancel(context.Background())
	return j
}

// library counts the jobs that use package mx.
var library struct {
	sync.Mutex
	users int
	ours  bool // Init was called for us
}

func useLibrary() error {
	library.Lock()
	defer library.Unlock()
	if library.users == 0 {
		err := mx.Init()
		library.ours = err == nil
		if err != nil && !errors.Is(err, mx.ErrAlreadyInitialized) {
			return err
		}
	}
	library.users++
	return nil
}

func leaveLibrary() {
	library.Lock()
	defer library.Unlock()
	if library.users--; library.users == 0 && library.ours && len(mx.Snapshot().Endpoints) == 0 { // else somebody else uses it by now
		_ = mx.Finalize()
	}
}

// open opens an endpoint of the job.
func (j *job) open(filter uint32) (*mx.Endpoint, error) {
	params := slices.Concat([]mx.Param{mx.WithErrorHandler(mx.ErrorsReturn), mx.WithClasses(classShift)}, j.set.threadParams(), j.set.params)
	if j.launch != nil {
		return mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter, params...)
	}
	for range mx.MaxEndpoints {
		ep, err := mx.OpenEndpoint(mx.AnyNIC, (j.next.Add(1)-1)%mx.MaxEndpoints, filter, params...)
		if !errors.Is(err, mx.ErrBusy) {
			return ep, err
		}
	}
	return nil, mx.ErrBusy
}

// openService makes the service of the process.
func (j *job) openService() (err error) {
	s := service.Local(0)
	if j.launch != nil {
		s, err = service.Open(j.launch.Rank(), slices.Concat([]mx.Param{mx.WithSpin(0)}, j.set.params, []mx.Param{mx.WithTrace("")})...)
	}
	if err == nil {
		j.control = newControlPlane(j, s)
	}
	return err
}

// beginService has it answer the others. What its handlers need is there.
func (j *job) beginService() error {
	addresses := make([]service.Address, len(j.businessCards))
	for i := range j.businessCards {
		addresses[i] = j.businessCards[i].service
	}
	return j.control.Begin(addresses)
}

// randomFilter returns a number that nobody guesses.
func randomFilter() uint32 {
	var b [4]byte
	_, _ = rand.Read(b[:])
	return binary.LittleEndian.Uint32(b[:])
}

// allRanks returns the ranks of the world.
func (j *job) allRanks() []int32 {
	ranks := make([]int32, j.size)
	for i := range ranks {
		ranks[i] = int32(i)
	}
	return ranks
}

// end ends the job before its time: all that blocks in this process returns. The first one
// to end it is the one that everybody names.
func (j *job) end(rank int, cause error) {
	e := &ending{rank, cause, make(chan struct{})}
	if !j.ending.CompareAndSwap(nil, e) {
		return
	}
	go func() {
		j.close()
		close(e.closed)
	}()
	select {
	case <-e.closed:
	case <-time.After(endGrace): // the caller is inside a collective, which the endpoint waits for
	}
}

// endGrace bounds how long who ends the job waits until its endpoints are closed.
const endGrace = 250 * time.Millisecond

// leave closes the endpoints, when nobody else does any more.
func (j *job) leave() {
	if e := j.ending.Load(); e != nil && e.closed != nil {
		<-e.closed
	}
	j.close()
}

// close closes the endpoints.
func (j *job) close() {
	j.finish()
	if j.hideWaits != nil {
		j.hideWaits()
	}
	var all sync.WaitGroup
	for _, s := range j.seats {
		if s != nil {
			s.hideCounters()
			all.Go(func() { _ = s.ep.Close() })
		}
	}
	if j.control != nil {
		all.Go(func() { _ = j.control.Close() })
	}
	all.Wait()
	for _, s := range j.seats {
		if s != nil {
			s.scratch.close()
		}
	}
}
