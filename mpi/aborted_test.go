package mpi_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gomx/mpi"
)

// TestOwnMemoryInAJobThatEnds: what concerns the rank's own memory alone ends with the job, and says so.
func TestOwnMemoryInAJobThatEnds(t *testing.T) {
	calls := map[string]func(world *mpi.Comm, win *mpi.Win[uint64]) error{
		"WinAllocate on Self": func(world *mpi.Comm, _ *mpi.Win[uint64]) error {
			w, err := mpi.WinAllocate[int](world.Self(), 3)
			if err == nil {
				err = w.Free()
			}
			return err
		},
		"CompareAndSwap": func(world *mpi.Comm, win *mpi.Win[uint64]) error {
			_, err := win.CompareAndSwap(7, 8, world.Rank(), 0)
			return err
		},
		"FetchAndOp": func(world *mpi.Comm, win *mpi.Win[uint64]) error {
			_, err := win.FetchAndOp(7, world.Rank(), 0, mpi.AccNone)
			return err
		},
		"Put": func(world *mpi.Comm, win *mpi.Win[uint64]) error {
			return errors.Join(win.Put([]uint64{1}, world.Rank(), 0), win.Flush(world.Rank()))
		},
	}
	broken := errors.New("enough")
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			for range 100 {
				began := make(chan struct{})
				err := run(t, 2, func(world *mpi.Comm) error {
					win, err := mpi.WinAllocate[uint64](world, 1)
					if err == nil {
						err = win.LockAll()
					}
					if world.Rank() == 0 {
						<-began
						return broken
					}
					for i := 0; err == nil; i++ {
						if i == 10 {
							close(began)
						}
						err = call(world, win)
					}
					if !errors.Is(err, mpi.ErrAborted) {
						t.Errorf("%v, want class %q", err, mpi.ErrAborted)
					}
					return err
				})
				if !errors.Is(err, broken) || t.Failed() {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestAbortBeforeAnError: that the rank which has aborted the job returns an error of its own hides nothing of the Abort.
func TestAbortBeforeAnError(t *testing.T) {
	own := errors.New("so I stop")
	err := run(t, 3, func(world *mpi.Comm) error {
		if world.Rank() != 1 {
			return world.Barrier()
		}
		world.Abort(7, "enough")
		return own
	})
	if !errors.Is(err, mpi.ErrAborted) || !errors.Is(err, own) || !strings.HasPrefix(err.Error(), "rank 1: mpi: Abort on world, rank 1: ") {
		t.Errorf("the job ends with %v", err)
	}
}

// TestRequestsAfterAnAbort: a request that never becomes complete, because the job was aborted, is empty after the wait
// that says so, whichever it is.
func TestRequestsAfterAnAbort(t *testing.T) {
	starts := map[string]func(world *mpi.Comm) (mpi.Request, error){
		"Irecv":      func(world *mpi.Comm) (mpi.Request, error) { return mpi.Irecv(world, make([]byte, 1), 1, 1) },
		"any source": func(world *mpi.Comm) (mpi.Request, error) { return mpi.Irecv(world, make([]byte, 1), mpi.AnySource, 1) },
		"Issend":     func(world *mpi.Comm) (mpi.Request, error) { return mpi.Issend(world, make([]byte, 1), 1, 2) },
		"Iallreduce": func(world *mpi.Comm) (mpi.Request, error) {
			return mpi.Iallreduce(world, []int64{1}, make([]int64, 1), mpi.Sum)
		},
	}
	waits := map[string]func(q *mpi.Request) error{
		"Wait":        func(q *mpi.Request) error { return second(q.Wait()) },
		"WaitContext": func(q *mpi.Request) error { return second(q.WaitContext(t.Context())) },
		"WaitAll": func(q *mpi.Request) error {
			all := []mpi.Request{*q}
			err := mpi.WaitAll(all, nil)
			*q = all[0]
			return err
		},
		"Test": func(q *mpi.Request) error {
			for limit := time.Now().Add(bound); time.Now().Before(limit); {
				if _, done, err := q.Test(); done || err != nil {
					return err
				}
			}
			return errors.New("it never says that the job was aborted")
		},
	}
	for started, start := range starts {
		for waited, wait := range waits {
			err := run(t, 2, func(world *mpi.Comm) error {
				if world.Rank() == 1 {
					time.Sleep(time.Millisecond)
					world.Abort(7, "enough")
					return nil
				}
				q, err := start(world)
				if err == nil {
					err = wait(&q)
				}
				if !errors.Is(err, mpi.ErrAborted) || !q.Empty() || errors.Is(err, mpi.ErrGivenUp) {
					t.Errorf("%s of %s: %v, empty %v", waited, started, err, q.Empty())
				}
				return nil
			})
			if !errors.Is(err, mpi.ErrAborted) {
				t.Errorf("the job ends with %v", err)
			}
		}
	}
}

// TestAbortInsideAReduction: the function of a nonblocking reduction may abort the job, whichever goroutine runs it.
func TestAbortInsideAReduction(t *testing.T) {
	for round := range 20 {
		err := run(t, 3, func(world *mpi.Comm) error {
			out := make([]int64, 1)
			q, err := mpi.Iallreduce(world, []int64{1}, out, func(_, _ []int64) { world.Abort(37, "it can't go on") })
			if err != nil {
				return err
			}
			time.Sleep(time.Duration(round%4) * 20 * time.Millisecond) // somebody else makes progress meanwhile
			return second(q.Wait())
		})
		if !errors.Is(err, mpi.ErrAborted) || !strings.Contains(err.Error(), "code 37: it can't go on") {
			t.Errorf("the job ends with %v", err)
		}
	}
}

// TestAbortAfterFinalize: an Abort ends the job also when its rank has finalized, and its program returns nil.
func TestAbortAfterFinalize(t *testing.T) {
	err := run(t, 3, func(world *mpi.Comm) error {
		if err := world.Finalize(); err != nil {
			return err
		}
		if world.Rank() == 1 {
			world.Abort(7, "enough")
		}
		return nil
	})
	if !errors.Is(err, mpi.ErrAborted) || !strings.Contains(err.Error(), "rank 1: mpi: Abort on world, rank 1: ") {
		t.Errorf("the job ends with %v", err)
	}
}

// TestLocalAbort: the code of an Abort is the exit status of a process whose ranks are goroutines, too.
func TestLocalAbort(t *testing.T) {
	out, err := local("aborts", "MX_LOCAL=3")
	if exit, is := errors.AsType[*exec.ExitError](err); !is || exit.ExitCode() != 42 || !strings.Contains(string(out), "code 42: enough") {
		t.Errorf("%v, %s", err, out)
	}
}
