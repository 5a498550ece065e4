package launch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Job is this process's place among the ranks of its job.
type Job struct {
	rank, size int
	launcher   string
	host       string
	secret     []byte

	meeting meeting // nil: nobody else

	mu    sync.Mutex
	ended error // what calls after Finalize get
}

// meeting is a way on which ranks exchange cards.
type meeting interface {
	// exchange hands out the cards of all ranks. It is called by one goroutine at a time.
	exchange(ctx context.Context, card []byte) ([][]byte, error)
	// abort asks for the end of the whole job.
	abort(code int, reason string)
	// blame says whose absence keeps this rank from going on.
	blame(rank int)
	// cancel takes leave of a start that has failed at this rank, and says why.
	cancel(reason string)
	// finalize takes leave.
	finalize(ctx context.Context) error
	// lost is closed when the way to the others is no more, and why says the reason then.
	lost() <-chan struct{}
	why() error
	// dead yields ranks that have ended without taking leave; nil where nobody tells.
	dead() <-chan int
}

// MaxCard is the longest card that Exchange takes, bytes.
const MaxCard = 64 << 10

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

// Secret returns a secret that the ranks of the job share, nil if there is none: that of MX_SECRET
// or MX_SECRET_FILE, or one that rank 0 has put into the launcher's store of keys. The latter is as
// secret as the launcher's connections are. Safe from any goroutine.
func (j *Job) Secret() []byte { return slices.Clone(j.secret) }

// HostID returns a text that is the same for ranks that may meet over the host itself: those of one
// booted system and one network namespace. MX_NOLOCAL and MX_CLIQUES split hosts. Safe from any
// goroutine.
func (j *Job) HostID() string { return j.host }

// Exchange hands in this rank's card, of at most MaxCard bytes, and returns those of all ranks in
// their order. All ranks call it, each time in the same order; one call at a time. It waits for the
// others as long as MX_MEET_TIMEOUT says, and ends with ctx.
func (j *Job) Exchange(ctx context.Context, card []byte) ([][]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.ended != nil:
		return nil, j.failed("Exchange", j.ended)
	case len(card) > MaxCard:
		return nil, j.failed("Exchange", fmt.Errorf("a card of %d bytes, more than %d", len(card), MaxCard))
	case j.meeting == nil:
		return [][]byte{slices.Clone(card)}, nil
	}
	cards, err := j.meeting.exchange(ctx, card)
	if err != nil {
		return nil, j.failed("Exchange", err)
	}
	return cards, nil
}

// Abort asks for the end of all ranks with an exit code, and returns; the caller then exits, best when the end has come to it
// as well: who goes at once is missed by the others before they hear why. The reason is for the launcher, or for the ranks where
// none ends them; they get what Reason makes of it. For a job of one rank it does nothing. Safe from any goroutine.
func (j *Job) Abort(code int, reason string) {
	if j.meeting != nil {
		j.meeting.abort(code, Reason(reason))
	}
}

// Blame tells the launcher that another rank is gone, in whose absence this one can't go on: if both end now, that one is why. Only mx_run wants to know.
// Safe from any goroutine.
func (j *Job) Blame(rank int) {
	if j.meeting != nil {
		j.meeting.blame(rank)
	}
}

// Fail takes leave for a rank that can't go on before the job has begun. Where no launcher ends the others, their Exchange fails and says why. Rank 0 stays for those
// that have not come yet, for three seconds at most: who comes later finds nobody. Safe from any goroutine.
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

// Finalize takes leave: the launcher no longer takes the end of this process for a failure. It does
// not wait for the other ranks. Calling it again is ErrFinalized.
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

// leaveTime bounds Finalize: at the end of a job nobody waits long for a launcher.
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
