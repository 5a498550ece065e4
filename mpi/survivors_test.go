package mpi_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"gomx/internal/testlength"
	"gomx/mpi"
)

func init() {
	programs["survivors"] = survivors
	programs["leavers"] = leavers
	programs["leavers after the first"] = leaversAfterTheFirst
	programs["late leavers"] = lateLeavers
	programs["returners"] = returners
}

// overProcesses runs a program of four ranks over each medium, and compares how they end.
func overProcesses(t *testing.T, program string, codes [4]int, check func(rank int, output string) error) {
	amongOthers(t)
	t.Helper()
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			amongOthers(t)
			skipWithout(t, transport)
			for rank, e := range job(t, program, len(codes), "MX_TRANSPORT="+transport+",self") {
				if err := check(rank, e.output); e.code != codes[rank] || err != nil {
					t.Errorf("rank %d: exit code %d, not %d: %v", rank, e.code, codes[rank], err)
				}
			}
		})
	}
}

func silent(_ int, output string) error {
	if output != "" {
		return errors.New(output)
	}
	return nil
}

// TestSurvivorsLeave: what a rank has sent arrives, though a failure has made its Finalize fail; it counts as one that has left, and
// those behind it in the ring are watched on.
func TestSurvivorsLeave(t *testing.T) {
	testlength.Long(t)
	unchecked(t) // sends of one rank alone
	overProcesses(t, "survivors", [4]int{0, 9, 8, 0}, silent)
}

// survivors has rank 1 die, and rank 0 leave. Then rank 2 dies, too, of which rank 3 hears by the ring alone.
func survivors(world *mpi.Comm) error {
	pair, err := world.Split(world.Rank()/2, 0)
	if err != nil {
		return err
	}
	if err := missRank1(world); err != nil {
		return err
	}
	const messages = 2000
	switch world.Rank() {
	case 0:
		for i := range int64(messages) {
			if err := mpi.Send(world, []int64{i}, 2, 5); err != nil {
				return err
			}
		}
	case 2:
		return outlive(world, messages)
	case 3:
		if _, err := mpi.Recv(world, make([]int64, 1), 2, 7); err != nil {
			return err
		}
		_, err := mpi.Recv(pair, make([]int64, 1), mpi.AnySource, 7)
		if err := wantFailure(err, pair, "rank 2 of the world"); err != nil {
			return err
		}
	}
	if err := wantFailure(world.Finalize(), world, "with rank 1: ", "rank 1 of the world"); err != nil {
		return err
	}
	if err := wantError(world.Finalize(), mpi.ErrFinalized, world.Rank()); err != nil {
		return err
	}
	os.Exit(0)
	return nil
}

// loseRank1 has rank 1 die when all others have come here.
func loseRank1(world *mpi.Comm) error {
	if world.Rank() != 1 {
		return mpi.Send(world, make([]int64, 1), 1, 8)
	}
	for range world.Size() - 1 {
		if _, err := mpi.Recv(world, make([]int64, 1), mpi.AnySource, 8); err != nil {
			return err
		}
	}
	exit9()
	return nil
}

// missRank1 has rank 1 die, and returns where its failure is known.
func missRank1(world *mpi.Comm) error {
	if err := loseRank1(world); err != nil {
		return err
	}
	if _, err := mpi.Recv(world, make([]int64, 1), 1, 0); !errors.Is(err, mpi.ErrProcFailed) {
		return fmt.Errorf("rank 1 lives: %w", err)
	}
	return nil
}

// outlive receives what rank 0 has sent when that has left.
func outlive(world *mpi.Comm, messages int) error {
	never, err := mpi.Irecv(world, make([]int64, 1), 0, 6)
	if err != nil {
		return err
	}
	got := make([]int64, 1)
	for i := range int64(messages) {
		if i == 10 {
			_, err := never.Wait()
			if err := wantFailure(err, world, "with rank 0", "rank 0 of the world is gone: it has called Finalize"); err != nil {
				return err
			}
		}
		if _, err := mpi.Recv(world, got, 0, 5); err != nil || got[0] != i {
			return fmt.Errorf("message %d: got %d: %w", i, got[0], err)
		}
	}
	if err := mpi.Ssend(world, got, 3, 7); err != nil {
		return err
	}
	os.Exit(8)
	return nil
}

// wantFailure returns what is wrong with an error that should be that of a failed rank, with some texts in it.
func wantFailure(err error, c *mpi.Comm, says ...string) error {
	if err := wantError(err, mpi.ErrProcFailed, c.Rank()); err != nil {
		return err
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			return fmt.Errorf("%q does not say %q", err, s)
		}
	}
	return nil
}

// TestFinalizeNamesTheDead: not those that have left before because of the same failure.
func TestFinalizeNamesTheDead(t *testing.T) {
	overProcesses(t, "leavers", [4]int{0, 9, 0, 0}, silent)
}

func leavers(world *mpi.Comm) error {
	if err := loseRank1(world); err != nil {
		return err
	}
	err := wantFailure(world.Finalize(), world, "rank 1 of the world")
	if err == nil {
		os.Exit(0)
	}
	return err
}

// TestFinalizeNamesTheDeadAfterwards: ranks that come to Finalize when the one that has missed another has left hear from it why.
func TestFinalizeNamesTheDeadAfterwards(t *testing.T) {
	overProcesses(t, "leavers after the first", [4]int{0, 9, 0, 0}, silent)
}

func leaversAfterTheFirst(world *mpi.Comm) error {
	if err := loseRank1(world); err != nil {
		return err
	}
	if world.Rank() > 1 {
		if _, err := mpi.Recv(world, make([]int64, 1), 0, 7); !errors.Is(err, mpi.ErrProcFailed) {
			return fmt.Errorf("error %v, want that rank 0 has left", err)
		}
	}
	err := wantFailure(world.Finalize(), world, "rank 1 of the world")
	if err == nil {
		os.Exit(0)
	}
	return err
}

// TestCollectiveWithoutThoseThatHaveLeft: it ends at all ranks, at some by what the others tell.
func TestCollectiveWithoutThoseThatHaveLeft(t *testing.T) {
	overProcesses(t, "late leavers", [4]int{0, 9, 0, 0}, silent)
}

func lateLeavers(world *mpi.Comm) error {
	color := 0
	if world.Rank() == 1 {
		color = 1
	}
	alive, err := world.Split(color, 0)
	if err != nil {
		return err
	}
	if err := missRank1(world); err != nil {
		return err
	}
	if err := alive.Barrier(); err != nil {
		return err
	}
	if world.Rank() == 0 {
		err = wantFailure(world.Finalize(), world, "with rank 1: ")
	} else {
		err = wantFailure(alive.Barrier(), alive, "rank 0 of the world")
		err = errors.Join(err, wantFailure(world.Finalize(), world, "with rank 1: "))
	}
	if err == nil {
		os.Exit(0)
	}
	return err
}

// TestMainAfterAFailure: who returns all the same leaves alone, with exit code 1, and says why.
func TestMainAfterAFailure(t *testing.T) {
	testlength.Long(t)
	overProcesses(t, "returners", [4]int{1, 9, 1, 1}, func(rank int, output string) error {
		if rank != 1 && (strings.Count(output, "\n") != 1 || !strings.HasPrefix(output, fmt.Sprintf("rank %d of 4: mpi: Finalize on world, rank %d", rank, rank))) {
			return errors.New(output)
		}
		return nil
	})
}

func returners(world *mpi.Comm) error {
	if world.Rank() == 1 {
		exit9()
	}
	return nil
}
