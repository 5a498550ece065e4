package spawn

import (
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"
)

// TestAbortAndFailure: of a rank that dies, and one that aborts the job because of that, the first is the
// job's failure, whichever is heard of first.
func TestAbortAndFailure(t *testing.T) {
	for _, c := range []struct {
		name  string
		after time.Duration
		rank  int
	}{{"at once", hindsight / 2, 1}, {"much later", 2 * hindsight, 0}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &job{plan: &Plan{}, ranks: make([]rank, 2)}
				for i := range j.ranks {
					j.ranks[i].cmd = &exec.Cmd{Process: &os.Process{Pid: 1000 + i}}
				}
				j.abort(0, 6, "rank 1 is gone")
				time.Sleep(c.after)
				j.fail(&Failure{Rank: 1, Code: 137, What: "was killed"})
				synctest.Wait()
				if j.failure.Rank != c.rank {
					t.Errorf("the failure is %v, want one of rank %d", j.failure, c.rank)
				}
			})
		})
	}
}

func (j *job) failed() *Failure {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failure
}

// TestBlame: of ranks that fail, one comes first whom the others miss, whatever is heard of first.
func TestBlame(t *testing.T) {
	for _, c := range []struct {
		name  string
		first bool // rank 1, whom the others miss, is judged
		rank  int
	}{{"it has failed", true, 1}, {"it lives on", false, 0}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &job{plan: &Plan{}, ranks: make([]rank, 3)}
				for i := range j.ranks {
					j.ranks[i] = rank{cmd: &exec.Cmd{Process: &os.Process{Pid: 1000 + i}}, judged: make(chan struct{})}
				}
				j.blame(0, 1)
				j.blame(0, 2) // a victim itself, which counts no more
				j.abort(0, 6, "without rank 1 there is no result")
				time.Sleep(2 * hindsight)
				if f := j.failed(); f != nil {
					t.Errorf("the failure is %v before rank 1 is judged", f)
				}
				if c.first {
					j.fail(&Failure{Rank: 1, Code: 3, What: "exited with status 3"})
					close(j.ranks[1].judged)
				} else {
					time.Sleep(inquest)
				}
				synctest.Wait()
				if f := j.failed(); f == nil || f.Rank != c.rank {
					t.Errorf("the failure is %v, want one of rank %d", f, c.rank)
				}
			})
		})
	}
}
