package launch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Job is the membership of this process in its job.
type Job struct {
	rank, size int
	launcher   string
	alone      bool
	host       string
	secret     []byte

	meeting meeting // nil: nobody else

	mu    sync.Mutex
	ended error // what calls after Finalize get
}

// meeting is a way for ranks to exchange business cards.
type meeting interface {
	// exchange returns the business cards of all ranks. It is called by one goroutine at a time.
	exchange(ctx context.Context, businessCard []byte) ([][]byte, error)
	// abort asks for the end of the whole job.
	abort(code int, reason string)
	// blame reports the rank whose absence keeps this rank from going on.
	blame(rank int)
	// cancel ends a start that has failed at this rank, and tells the other ranks why.
	cancel(reason string)
	// finalize takes leave.
	finalize(ctx context.Context) error
	// lost is closed when the connection to the launcher or rank 0 has ended. why returns the reason from then on.
	lost() <-chan struct{}
	why() error
	// dead yields ranks that have ended without finalize. It is nil if failures are not reported.
	dead() <-chan int
}

// MaxBusinessCard is the longest business card that Exchange takes, bytes.
const MaxBusinessCard = 64 << 10

// Errors of this package. Find's wrap ErrNoWay where the ranks of a job have no way to each other;
// those of ranks other than 0 then wrap ErrSaidByRank0, too, and need not be printed.
var (
	ErrNoWay       = errors.New("no way to the other ranks")
	ErrSaidByRank0 = errors.New("rank 0 says what to do")
	ErrFinalized   = errors.New("the job is finalized")
)

// Aborted is the reason of Lost when a rank has called Abort.
type Aborted struct {
	Rank   int
	Code   int // exit code that was asked for
	Reason string
}

// Error names the rank, the code and the reason.
func (a *Aborted) Error() string {
	return fmt.Sprintf("rank %d aborted the job with code %d: %s", a.Rank, a.Code, a.Reason)
}

// Rank returns this process's rank, from 0 to Size()-1. Safe from any goroutine.
func (j *Job) Rank() int { return j.rank }

// Size returns the number of ranks. Safe from any goroutine.
func (j *Job) Size() int { return j.size }

// Launcher returns who started the job, for messages: Hydra, Slurm, mx_run, none and so on. Safe
// from any goroutine.
func (j *Job) Launcher() string { return j.launcher }

// Alone reports whether nothing in the environment says that this process is a rank of a job, MX_SINGLETON included. Safe from any goroutine.
func (j *Job) Alone() bool { return j.alone }

// Secret returns a secret that the ranks of the job share, nil if there is none: that of MX_SECRET
// or MX_SECRET_FILE, or one that rank 0 has put into the launcher's store of keys. The latter is as
// secret as the launcher's connections are. Safe from any goroutine.
func (j *Job) Secret() []byte { return slices.Clone(j.secret) }

// HostID returns a text that is the same for ranks that may meet over the host itself: those of one
// booted system and one network namespace. MX_NOLOCAL and MX_CLIQUES split hosts. Safe from any
// goroutine.
func (j *Job) HostID() string { return j.host }

// Exchange contributes this rank's business card, of at most MaxBusinessCard bytes, and returns those of all ranks in the
// order of the ranks. All ranks must call it, one call at a time. It waits for the other ranks as long as MX_MEET_TIMEOUT
// says, ranks other than 0 for five seconds more without a launcher, and ends with ctx.
func (j *Job) Exchange(ctx context.Context, businessCard []byte) ([][]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.ended != nil:
		return nil, j.failed("Exchange", j.ended)
	case len(businessCard) > MaxBusinessCard:
		return nil, j.failed("Exchange", fmt.Errorf("a business card of %d bytes, more than %d", len(businessCard), MaxBusinessCard))
	case j.meeting == nil:
		return [][]byte{slices.Clone(businessCard)}, nil
	}
	businessCards, err := j.meeting.exchange(ctx, businessCard)
	if err != nil {
		return nil, j.failed("Exchange", err)
	}
	return businessCards, nil
}

// Abort asks for the end of all ranks with an exit code, and returns. The caller then exits, preferably when Lost is closed:
// if it exits at once, the other ranks may notice its absence before they learn the reason. The reason goes to the launcher,
// or to the ranks if no launcher ends them, in the form that Reason gives it. For a job of one rank Abort does nothing. Safe
// from any goroutine.
func (j *Job) Abort(code int, reason string) {
	if j.meeting != nil {
		j.meeting.abort(code, Reason(reason))
	}
}

// Blame tells the launcher that this rank can't go on because another one has failed: if both end now, the other one is the
// first cause. Only mx_run uses this. Safe from any goroutine.
func (j *Job) Blame(rank int) {
	if j.meeting != nil {
		j.meeting.blame(rank)
	}
}

// Fail ends the job of a rank that can't go on before the job has started. If no launcher ends the other ranks, their Exchange
// fails with the reason. Rank 0 waits up to three seconds for ranks that have not connected yet; ranks that come later do
// not find it. Safe from any goroutine.
func (j *Job) Fail(reason string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ended != nil {
		return
	}
	j.ended = ErrFinalized
	if j.meeting != nil {
		j.meeting.cancel(Reason(reason))
	}
}

// Finalize tells the launcher that the end of this process is no failure. It does not wait for the other ranks. A second call
// returns ErrFinalized.
func (j *Job) Finalize() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ended != nil {
		return j.failed("Finalize", j.ended)
	}
	j.ended = ErrFinalized
	if j.meeting == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	if err := j.meeting.finalize(ctx); err != nil {
		return j.failed("Finalize", err)
	}
	return nil
}

// leaveTime is the time limit of Finalize for the launcher's answer.
const leaveTime = 10 * time.Second

// Lost is closed when the launcher has hung up, or when a rank has aborted a job that has no
// launcher to end it. nil for a job of one rank. Safe from any goroutine.
func (j *Job) Lost() <-chan struct{} {
	if j.meeting == nil {
		return nil
	}
	return j.meeting.lost()
}

// Dead yields each rank of which it is known that it ended without Finalize. nil for a job of one
// rank, and where the launcher ends all ranks when one dies, as PMI's do. One goroutine receives
// from it.
func (j *Job) Dead() <-chan int {
	if j.meeting == nil {
		return nil
	}
	return j.meeting.dead()
}

// LostReason says why Lost is closed: an *Aborted, or how the connection ended. nil before. Safe
// from any goroutine.
func (j *Job) LostReason() error {
	select {
	case <-j.Lost():
		return j.meeting.why()
	default:
		return nil
	}
}

func (j *Job) failed(step string, err error) error {
	return fmt.Errorf("launch: %s: rank %d of %d, started by %s: %w", step, j.rank, j.size, j.launcher, err)
}
