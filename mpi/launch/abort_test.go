package launch

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// TestAbortReachesAll has a rank abort a job that no launcher watches.
func TestAbortReachesAll(t *testing.T) {
	for _, who := range []int{0, 2} {
		t.Run(fmt.Sprint("rank ", who), func(t *testing.T) {
			together(t, handJob(t, 4), func(j *Job) error {
				// The abort may overtake the business cards on their way to others.
				if err := swap(j, 0, 0); err != nil && !errors.As(err, new(*Aborted)) {
					return err
				}
				if j.Rank() == who {
					j.Abort(7, "the test says so")
				}
				if j.Rank() != who || who == 0 {
					hears(t, "the abort", j.Lost())
					var a *Aborted
					if !errors.As(j.LostReason(), &a) || *a != (Aborted{Rank: who, Code: 7, Reason: "the test says so"}) {
						return fmt.Errorf("rank %d hears %v", j.Rank(), j.LostReason())
					}
				}
				return nil
			})
		})
	}
}

// TestAbortBeforeBusinessCards: who aborts a job while others wait for its business card is gone soon after. The abort
// is why.
func TestAbortBeforeBusinessCards(t *testing.T) {
	r := &root{membership: &membership{size: 2}, settings: &settings{meet: time.Minute}, businessCards: make([][]byte, 2)}
	r.ending.start(2)
	r.renew()
	r.end(&Aborted{Rank: 1, Code: 7})
	r.fail(errors.New("rank 1 has gone"))
	for range 100 {
		var a *Aborted
		if _, err := r.exchange(t.Context(), nil); !errors.As(err, &a) || a.Code != 7 {
			t.Fatalf("%v, want the abort", err)
		}
	}
}

// TestFailuresAreReported has a rank end without taking leave.
func TestFailuresAreReported(t *testing.T) {
	var jobs sync.Map
	together(t, handJob(t, 4), func(j *Job) error {
		jobs.Store(j.Rank(), j)
		return swap(j, 0, 0)
	})
	of := func(rank int) *Job {
		j, _ := jobs.Load(rank)
		return j.(*Job)
	}
	_ = of(2).meeting.(*visitor).conn.Close()
	for _, rank := range []int{0, 1, 3} {
		if dead := <-of(rank).Dead(); dead != 2 {
			t.Errorf("rank %d hears that rank %d has failed", rank, dead)
		}
		if err := of(rank).LostReason(); err != nil {
			t.Errorf("rank %d takes the job for lost: %v", rank, err)
		}
	}
	if err := swap(of(0), 1, 0); err == nil {
		t.Error("an exchange without rank 2 has an end")
	}
	// The root is another matter: nobody else could tell.
	_ = of(0).meeting.(*root).listener.Close()
	for _, m := range of(0).meeting.(*root).members {
		if m != nil {
			_ = m.conn.Close()
		}
	}
	for _, rank := range []int{1, 3} {
		hears(t, "the end of rank 0", of(rank).Lost())
		if !errors.Is(of(rank).LostReason(), errRootGone) {
			t.Errorf("rank %d: %v", rank, of(rank).LostReason())
		}
	}
}

// TestTheRootLeavesBehindItsNews: it takes leave as soon as it hears of a failed rank, and all others hear of that rank too.
func TestTheRootLeavesBehindItsNews(t *testing.T) {
	for range 20 {
		together(t, handJob(t, 12), func(j *Job) error {
			if err := swap(j, 0, 0); err != nil {
				return err
			}
			if j.Rank() == 5 {
				return j.meeting.(*visitor).conn.Close()
			}
			limit := time.NewTimer(patience)
			defer limit.Stop()
			select {
			case <-j.Dead():
			case <-limit.C:
				return fmt.Errorf("rank %d hears of no failed rank", j.Rank())
			}
			return j.Finalize()
		})
	}
}

// TestLauncherGone has the PMI server end.
func TestLauncherGone(t *testing.T) {
	server, envs := pmiJob(t, 2)
	together(t, envs, func(j *Job) error {
		if j.LostReason() != nil {
			return j.LostReason()
		}
		if err := swap(j, 0, 0); err != nil {
			return err
		}
		if j.Rank() == 0 {
			server.Hangup(0)
			server.Hangup(1)
		}
		hears(t, "the launcher's end", j.Lost())
		if _, err := j.Exchange(t.Context(), nil); err == nil {
			return errors.New("an exchange without launcher has an end")
		}
		return nil
	})
}
