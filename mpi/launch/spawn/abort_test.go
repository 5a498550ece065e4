package spawn

import (
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"
)

// TestAbortAndDeath: of a rank that dies, and one that aborts the job because of that, the first is the
// job's failure, whichever is heard of first.
func TestAbortAndDeath(t *testing.T) {
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
