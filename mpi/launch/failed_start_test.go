package launch

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gomx/internal/testlength"
)

// TestFailedStartIsHeardOf: when a rank can't go on before all have met, the others learn why: those that have come, and those that come while rank 0
// stays for them. None waits for MX_MEET_TIMEOUT.
func TestFailedStartIsHeardOf(t *testing.T) {
	const size, why = 4, "no transport\nis there"
	for _, who := range []int{0, 2} {
		envs := handJob(t, size, "MX_MEET_TIMEOUT=10m")
		ends := make(chan error, size)
		come := func(env environ) {
			j, err := find(env)
			if err != nil {
				ends <- err
				return
			}
			if j.Rank() == who {
				j.Fail(why)
				ends <- swap(j, 0, 0)
				return
			}
			err = swap(j, 0, 0)
			if j.Rank() == 0 {
				j.Fail(err.Error())
			}
			ends <- err
		}
		for _, env := range envs[:size-1] {
			go come(env)
		}
		time.AfterFunc(100*time.Millisecond, func() { come(envs[size-1]) })
		limit := time.After(patience)
		said := 0
		for n := range size {
			select {
			case err := <-ends:
				if errors.Is(err, ErrFinalized) {
					continue
				}
				if said++; err == nil || errors.As(err, new(*Aborted)) || !strings.Contains(err.Error(), Reason(why)) {
					t.Errorf("with rank %d: %v, want %q", who, err, Reason(why))
				}
			case <-limit:
				t.Fatalf("with rank %d: %d ranks wait", who, size-n)
			}
		}
		if said != size-1 {
			t.Errorf("with rank %d: %d ranks have failed because of it", who, said)
		}
	}
}

// TestFailedStartIsShort: rank 0 does not stay for longer than the others have to come.
func TestFailedStartIsShort(t *testing.T) {
	for meet, short := range map[string]bool{"1ms": true, "10m": false} {
		j, err := find(handJob(t, 2, "MX_MEET_TIMEOUT="+meet)[0])
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond)
		if stays := j.meeting.(*root).stays(); (stays <= 0) != short {
			t.Errorf("of %s it stays for %v", meet, stays)
		}
		if err := j.Finalize(); err != nil {
			t.Error(err)
		}
	}
}

// TestMissingRankIsNamed: a rank that has waited for longer than rank 0 for one that does not come leaves it to rank 0 to say which that is.
func TestMissingRankIsNamed(t *testing.T) {
	testlength.Long(t)
	const size = 3 // rank 2 does not come
	envs := handJob(t, size, "MX_MEET_TIMEOUT=1s")
	met, ends := make(chan error), make(chan error, size-1)
	for rank := range size - 1 {
		go func() {
			j, err := find(envs[rank])
			if rank == 0 {
				err = errors.Join(err, <-met)
				time.Sleep(100 * time.Millisecond)
			} else {
				met <- err
			}
			if err == nil {
				err = swap(j, 0, 0)
				j.Fail(fmt.Sprint(err))
			}
			ends <- err
		}()
	}
	for range size - 1 {
		if err := <-ends; err == nil || !strings.Contains(err.Error(), "rank 2 did not come") {
			t.Error(err)
		}
	}
}
