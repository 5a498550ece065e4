package mpi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
)

// TestGivenUpWithAStoppedPeer: every call that takes a context returns when that ends, also if the peer is stopped, and leaves
// nothing behind once that goes on.
func TestGivenUpWithAStoppedPeer(t *testing.T) {
	testlength.Long(t)
	withStopped(t, "stopped", 2)
}

// TestMatchedWithAStoppedSender: a receive whose message is on its way ends with its context, too.
func TestMatchedWithAStoppedSender(t *testing.T) {
	unchecked(t)
	withStopped(t, "stopped sender", 2)
}

// TestConnectingWithAStoppedPeer: a call that has to connect first ends with its context, too.
func TestConnectingWithAStoppedPeer(t *testing.T) { withStopped(t, "stopped stranger", 3) }

// withStopped runs a program of some ranks. The message of a stopped sender must need that: nobody copies it from its memory.
func withStopped(t *testing.T, program string, ranks int) {
	amongOthers(t)
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			amongOthers(t)
			skipWithout(t, transport)
			for rank, e := range job(t, program, ranks, "MX_TRANSPORT="+transport, "MX_SINGLE_COPY=0") {
				if e.code != 0 || e.output != "" {
					t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
				}
			}
		})
	}
}

// TestGivenUpSoakOfStoppedProcesses is TestGivenUpSoak of processes, of which two are stopped for moments all the time.
func TestGivenUpSoakOfStoppedProcesses(t *testing.T) {
	testlength.Long(t)
	amongOthers(t)
	rounds := roundsOfSoak()
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			amongOthers(t)
			skipWithout(t, transport)
			for first := 0; first < rounds; first += roundsOfWorld {
				for rank, e := range job(t, "soak", 3, "MX_TRANSPORT="+transport, "MX_EAGER=8192",
					fmt.Sprintf("%s=%d-%d", roundsVariable, first, min(first+roundsOfWorld, rounds))) {
					if e.code != 0 || e.output != "" {
						t.Fatalf("rank %d: exit code %d, %s", rank, e.code, e.output)
					}
				}
			}
		})
	}
}

// roundsVariable says which rounds the processes do.
const roundsVariable = "MPI_TEST_ROUNDS"

func soakWithStops(world *mpi.Comm) error {
	var first, end int
	if _, err := fmt.Sscanf(os.Getenv(roundsVariable), "%d-%d", &first, &end); err != nil {
		return err
	}
	pids := make([]int, world.Size())
	if err := mpi.Allgather(world, []int{os.Getpid()}, pids); err != nil {
		return err
	}
	over, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		dice := rand.New(rand.NewPCG(uint64(first), 1))
		for world.Rank() == 0 {
			pid := pids[1+dice.IntN(2)]
			for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
				_ = syscall.Kill(pid, signal)
				select {
				case <-over:
					_ = syscall.Kill(pid, syscall.SIGCONT)
					return
				case <-time.After(time.Duration(dice.IntN(3000)) * time.Microsecond):
				}
			}
		}
	}()
	err := soak(world, first, end)
	close(over)
	<-stopped
	return err
}

func init() {
	programs["soak"] = soakWithStops
	programs["stopped"] = func(world *mpi.Comm) error {
		p, err := findPatient(world)
		if err != nil {
			return err
		}
		return giveUpAll(world, p.stop, p.resume)
	}
	programs["stopped sender"] = stoppedSender
	programs["stopped stranger"] = stoppedStranger
}

// patient is rank 1, which rank 0 stops.
type patient struct {
	pid    int
	guard  *time.Timer // lets it go on if the call does not end before
	roused atomic.Bool
}

func findPatient(world *mpi.Comm) (*patient, error) {
	pid := []int{os.Getpid()}
	err := mpi.Bcast(world, pid, 1)
	return &patient{pid: pid[0]}, err
}

// stop stops the process, and returns when it has stopped.
func (p *patient) stop() error {
	if err := syscall.Kill(p.pid, syscall.SIGSTOP); err != nil {
		return err
	}
	p.guard = time.AfterFunc(bound/3, func() {
		p.roused.Store(true)
		_ = syscall.Kill(p.pid, syscall.SIGCONT)
	})
	return until(func() error {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
		if err == nil && !bytes.Contains(stat, []byte(") T ")) {
			err = fmt.Errorf("rank 1 does not stop: %s", stat)
		}
		return err
	})
}

func (p *patient) resume() error {
	p.guard.Stop()
	if p.roused.Load() {
		return errors.New("the call has waited for a stopped rank for too long")
	}
	return syscall.Kill(p.pid, syscall.SIGCONT)
}

// stoppedSender has rank 0 receive what rank 1 has started to send before it was stopped.
func stoppedSender(world *mpi.Comm) error {
	const length = 1 << 20
	p, err := findPatient(world)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		name       string
		collective bool
		receive    func(c *mpi.Comm, in []int32) error
	}{
		{"Recv", false, func(c *mpi.Comm, in []int32) error { return second(mpi.Recv(c, in, 1, 3)) }},
		{"Recv from any", false, func(c *mpi.Comm, in []int32) error { return second(mpi.Recv(c, in, mpi.AnySource, 3)) }},
		{"Mrecv", false, func(c *mpi.Comm, in []int32) error {
			m, _, err := c.Mprobe(1, 3)
			if err == nil {
				_, err = mpi.Mrecv(m, in)
			}
			return err
		}},
		{"Bcast", true, func(c *mpi.Comm, in []int32) error { return mpi.Bcast(c, in, 1) }},
		{"Reduce", true, func(c *mpi.Comm, in []int32) error { return mpi.Reduce(c, in, in, mpi.Sum, 0) }},
		{"Gather", true, func(c *mpi.Comm, in []int32) error {
			return mpi.Gather(c, in, make([]int32, 2*len(in)), 0)
		}},
	} {
		d, err := world.Dup()
		if err != nil {
			return err
		}
		if err := receiveFromStopped(world, d, p, x.collective, x.receive, length); err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
		if err := errors.Join(sum(d), d.Free(), world.Barrier()); err != nil {
			return fmt.Errorf("after %s: %w", x.name, err)
		}
	}
	return nothingLeft(world)
}

// receiveFromStopped gives up a message of rank 1, which comes when that goes on. A small one, that it has sent behind the long one on
// the same link, says that the long one has been announced.
func receiveFromStopped(world, d *mpi.Comm, p *patient, collective bool, receive func(c *mpi.Comm, in []int32) error, length int) error {
	in := make([]int32, length)
	if world.Rank() == 1 {
		send := func() (mpi.Request, error) { return mpi.Isend(d, in, 0, 3) }
		if collective {
			send = func() (mpi.Request, error) { return begin(d, in, receive) }
		}
		q, err := send()
		if err != nil {
			return err
		}
		if err := until(func() error { return underWay(d) }); err != nil {
			return err
		}
		if err := mpi.Send(world, []byte{1}, 0, goTag); err != nil {
			return err
		}
		_, err = q.Wait()
		return err
	}
	if _, err := mpi.Recv(world, make([]byte, 1), 1, goTag); err != nil {
		return err
	}
	if err := p.stop(); err != nil {
		return err
	}
	with, cancel := brief(d)
	defer cancel()
	err := receive(with, in)
	if resumed := p.resume(); resumed != nil {
		return resumed
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("error %v, want that of the context", err)
	}
	return nil
}

// stoppedStranger has rank 0 speak first with rank 2 while that is stopped. It knows of it by rank 1.
func stoppedStranger(world *mpi.Comm) error {
	pid := []int{os.Getpid()}
	switch world.Rank() {
	case 2:
		if err := mpi.Send(world, pid, 1, 1); err != nil {
			return err
		}
	case 1:
		if _, err := mpi.Recv(world, pid, 2, 1); err != nil {
			return err
		}
		if err := mpi.Send(world, pid, 0, 1); err != nil {
			return err
		}
	default:
		if _, err := mpi.Recv(world, pid, 1, 1); err != nil {
			return err
		}
		p := &patient{pid: pid[0]}
		if err := p.stop(); err != nil {
			return err
		}
		refused := refusesAll(world)
		if err := errors.Join(p.resume(), refused); err != nil {
			return err
		}
	}
	return errors.Join(sum(world), nothingLeft(world))
}

// underWay returns an error until a send is: of the whole message, or of a first piece where ranks share a core.
func underWay(c *mpi.Comm) error {
	if !slices.ContainsFunc(mpi.Pending(c), func(p string) bool { return strings.Contains(p, "send") }) {
		return errors.New("no send is under way")
	}
	return nil
}

// begin makes a collective call in a goroutine of its own; its request is a receive of what rank 1 tells itself.
func begin(c *mpi.Comm, in []int32, call func(c *mpi.Comm, in []int32) error) (mpi.Request, error) {
	q, err := mpi.Irecv(c, []byte(nil), c.Rank(), 5)
	if err == nil {
		go func() {
			if err := errors.Join(call(c, in), mpi.Send(c, []byte(nil), c.Rank(), 5)); err != nil {
				panic(err)
			}
		}()
	}
	return q, err
}
