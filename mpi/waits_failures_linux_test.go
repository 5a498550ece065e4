package mpi_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
)

func init() { programs["matched beside a failure"] = matchedBesideAFailure }

// TestMatchedBesideAFailure: a receive from anybody that a message of a living rank has matched goes on though another rank has died, and a
// wait for one of several requests waits for it. It is not told that all requests are empty.
func TestMatchedBesideAFailure(t *testing.T) {
	testlength.Long(t)
	amongOthers(t)
	unchecked(t) // the ranks are apart
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			amongOthers(t)
			skipWithout(t, transport)
			codes := [...]int{0, 0, 9}
			for rank, e := range job(t, "matched beside a failure", len(codes), "MX_TRANSPORT="+transport, "MX_SINGLE_COPY=0") {
				if e.code != codes[rank] || e.output != "" {
					t.Errorf("rank %d: exit code %d, not %d: %s", rank, e.code, codes[rank], e.output)
				}
			}
		})
	}
}

// waitsForOne are the calls that wait for one of several requests, or test them.
var waitsForOne = map[string]func(reqs []mpi.Request) (int, error){
	"WaitAny": func(reqs []mpi.Request) (int, error) {
		i, _, err := mpi.WaitAny(reqs)
		return i, err
	},
	"WaitSome": func(reqs []mpi.Request) (int, error) {
		done, err := mpi.WaitSome(reqs, nil)
		if err != nil || len(done) != 1 {
			return mpi.Undefined, err
		}
		return done[0].Index, nil
	},
	"TestAny": func(reqs []mpi.Request) (int, error) {
		return tested(func() (int, bool, error) {
			i, _, done, err := mpi.TestAny(reqs)
			return i, done, err
		})
	},
	"TestAll": func(reqs []mpi.Request) (int, error) {
		return tested(func() (int, bool, error) {
			done, err := mpi.TestAll(reqs, nil)
			return 1, done, err
		})
	},
}

// tested tests until a request is complete, which the first is not to be: the test would have waited for it.
func tested(test func() (int, bool, error)) (int, error) {
	for before := 0; ; before++ {
		i, done, err := test()
		switch {
		case err != nil:
			return i, err
		case done && before == 0:
			return i, errors.New("the first test has waited until the request was complete")
		case done:
			return i, nil
		}
	}
}

// whileStopped is for how long the sender stands still while rank 0 waits: for several of the moments at which a wait looks for failures.
const whileStopped = 350 * time.Millisecond

// matchedBesideAFailure has rank 1 announce messages, and stand still when rank 0 begins to receive one of them. Rank 2 has died by then.
func matchedBesideAFailure(world *mpi.Comm) error {
	const length = 1 << 20
	p, err := findPatient(world)
	if err != nil {
		return err
	}
	ways := slices.Sorted(maps.Keys(waitsForOne))
	switch world.Rank() {
	case 2:
		if _, err := mpi.Recv(world, make([]byte, 1), 1, goTag); err != nil {
			return err
		}
		exit9()
	case 1:
		var reqs []mpi.Request
		for tag := range ways {
			q, err := mpi.Isend(world, pattern(length, tag), 0, tag)
			if err != nil {
				return err
			}
			reqs = append(reqs, q)
		}
		if err := mpi.Send(world, []byte{1}, 0, goTag); err != nil { // behind them on the same link
			return err
		}
		if err := errors.Join(mpi.Send(world, []byte{1}, 2, goTag), mpi.WaitAll(reqs, nil)); err != nil {
			return err
		}
	case 0:
		if _, err := mpi.Recv(world, make([]byte, 1), 1, goTag); err != nil {
			return err
		}
		if err := wantFailure(second(mpi.Recv(world, make([]byte, 1), 2, 9)), world, "rank 2"); err != nil {
			return err
		}
		for tag, way := range ways {
			if err := waitForStopped(world, p, tag, waitsForOne[way], make([]int32, length)); err != nil {
				return fmt.Errorf("%s: %w", way, err)
			}
		}
	}
	if err := wantFailure(world.Finalize(), world, "rank 2 of the world"); err != nil {
		return err
	}
	os.Exit(0)
	return nil
}

// waitForStopped receives what the stopped rank 1 has announced, and has it go on while this rank waits.
func waitForStopped(world *mpi.Comm, p *patient, tag int, wait func(reqs []mpi.Request) (int, error), in []int32) error {
	if err := p.stop(); err != nil {
		return err
	}
	q, err := mpi.Irecv(world, in, mpi.AnySource, tag)
	if err != nil {
		return err
	}
	resumed := make(chan error, 1)
	time.AfterFunc(whileStopped, func() { resumed <- p.resume() })
	reqs := []mpi.Request{{}, q}
	i, err := wait(reqs)
	switch resumed := <-resumed; {
	case err != nil || resumed != nil:
		return errors.Join(err, resumed)
	case i != 1 || !reqs[1].Empty():
		return fmt.Errorf("request %d is complete, and the one at 1 is empty: %v", i, reqs[1].Empty())
	}
	return same(in, pattern(len(in), tag))
}
