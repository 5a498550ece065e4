//go:build linux

package mpi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"gomx/integration/internal/proc"
	"gomx/mpi"
)

// scene is what a rank has that waits for one that dies.
type scene struct {
	world  *mpi.Comm
	other  *mpi.Comm // for collectives that shall not meet those of the world
	win    *mpi.Win[int64]
	victim int
}

// wait is a call that the failure of the victim must end.
type wait struct {
	name string
	late bool // it begins when the victim has died or stands still
	call func(s *scene) error
}

// between are waits of ranks that know each other.
var between = []wait{
	{"Recv", false, func(s *scene) error {
		_, err := mpi.Recv(s.world, make([]int64, 4), s.victim, 1)
		return err
	}},
	{"Recv from anybody", false, func(s *scene) error {
		_, err := mpi.Recv(s.world, make([]int64, 4), mpi.AnySource, 1)
		return err
	}},
	{"Barrier", false, func(s *scene) error { return s.world.Barrier() }},
	{"Allreduce", false, func(s *scene) error {
		sum := make([]float64, 3000)
		return mpi.Allreduce(s.other, sum, sum, mpi.Sum)
	}},
	{"Ssend", false, func(s *scene) error { return mpi.Ssend(s.world, make([]int64, 10), s.victim, 2) }},
	{"large Send", false, func(s *scene) error { return mpi.Send(s.world, make([]int64, 1<<17), s.victim, 3) }},
	{"Win.Lock", false, func(s *scene) error { return s.win.Lock(s.victim, true) }},
	{"Win.Get", true, func(s *scene) error {
		for { // over shared memory the dead may give for a while
			if err := errors.Join(s.win.Get(make([]int64, windowLength), s.victim, 0), s.win.Flush(s.victim)); err != nil {
				return err
			}
		}
	}},
	{"Recv later", true, func(s *scene) error {
		_, err := mpi.Recv(s.world, make([]int64, 4), s.victim, 4)
		return err
	}},
}

// strange are those of ranks that have never spoken with another.
var strange = []wait{between[0], between[1], between[2], between[4], between[8]}

const windowLength = 50_000

// rank is the role of a rank without a launcher. Its arguments are what the victim does, who that is, and
// whether the ranks meet before they wait.
func rank(c *proc.Child) {
	if err := wake(c); err != nil {
		c.Fail(err)
	}
	c.Hear() // who leaves first is one of the dead
}

func wake(c *proc.Child) error {
	how, known, list := c.Args[0], c.Args[2] == "known", strange
	s := &scene{victim: int(c.Number(1))}
	var err error
	if s.world, err = mpi.Init(); err != nil {
		return err
	}
	if known {
		list = between
		if err := s.meet(); err != nil {
			return err
		}
	}
	if s.world.Rank() == s.victim {
		return s.die(c, how, list)
	}
	mine := list[place(s.world.Rank(), s.victim)]
	if mine.late {
		c.Hear()
	}
	if err := wantFailed(mine.call(s), s.victim); err != nil {
		return fmt.Errorf("rank %d, %s: %w", s.world.Rank(), mine.name, err)
	}
	if mine.late { // the others' must end without this, which would also broadcast the failure
		c.Say("ended")
		return nil
	}
	if _, err := mpi.Recv(s.world, make([]byte, 1), s.victim, 9); wantFailed(err, s.victim) != nil {
		return fmt.Errorf("rank %d, after %s: %w", s.world.Rank(), mine.name, wantFailed(err, s.victim))
	}
	c.Say("ended")
	return nil
}

// place returns which of the survivors a rank is.
func place(rank, victim int) int {
	if rank > victim {
		return rank - 1
	}
	return rank
}

// meet makes what the waits need. The victim keeps the lock of its window.
func (s *scene) meet() (err error) {
	if s.other, err = s.world.Dup(); err != nil {
		return err
	}
	if s.win, err = mpi.WinAllocate[int64](s.world, windowLength); err != nil {
		return err
	}
	if s.world.Rank() == s.victim {
		if err := s.win.Lock(s.victim, true); err != nil {
			return err
		}
	}
	return s.win.Fence()
}

// die ends the victim when all that are not late wait.
func (s *scene) die(c *proc.Child, how string, list []wait) error {
	early := 0
	for _, w := range list {
		if !w.late {
			early++
		}
	}
	if err := untilWait(s.world, early); err != nil {
		return err
	}
	switch how {
	case "kill":
		return errors.Join(syscall.Kill(os.Getpid(), syscall.SIGKILL), errors.New("it outlives its death"))
	case "leave":
		os.Exit(0)
	}
	return proc.StopSelf()
}

// untilWait looks at the ranks until so many wait.
func untilWait(world *mpi.Comm, n int) error {
	for {
		r, err := world.HangReport(context.Background())
		if err != nil {
			return err
		}
		var seen struct {
			Snapshot struct{ Ranks []struct{ Waits []any } }
		}
		if err := json.Unmarshal(r.JSON, &seen); err != nil {
			return err
		}
		waiting := 0
		for _, rank := range seen.Snapshot.Ranks {
			if len(rank.Waits) > 0 {
				waiting++
			}
		}
		if waiting >= n {
			return nil
		}
	}
}

// wantFailed says what is wrong with the error of a wait for a rank that has died.
func wantFailed(err error, dead int) error {
	switch {
	case !errors.Is(err, mpi.ErrProcFailed):
		return fmt.Errorf("error %v, want class %q", err, mpi.ErrProcFailed)
	case !strings.Contains(err.Error(), fmt.Sprintf("rank %d of the world", dead)):
		return fmt.Errorf("%q does not name rank %d, which is dead", err, dead)
	}
	return nil
}
