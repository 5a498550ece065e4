package mpi

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"gomx/mpi/internal/hang"
)

// HangReport is what the ranks of a job wait for at a time.
type HangReport struct {
	Text     string // for people: a line for each rank, groups of ranks that wait for the same, cycles, probable causes
	JSON     []byte // all of it for programs
	Deadlock bool   // ranks can't go on for certain, with no context that may end: they wait for each other, or for some that are gone
}

// HangReport asks all ranks of the job what they wait for, and finds out which ranks wait for each other. Any rank may
// call it at any time, also from a goroutine beside calls that block. Ranks that don't answer within 5 seconds, or
// until ctx ends if it is not nil, are marked in the report. It takes half a second more if there seems to be a
// deadlock, since only calls that are the same then count. The same report is printed on the standard error of rank
// 0, or of the first rank that answers, or given to the handler of WithHangHandler there, when a call has blocked for
// longer than MX_HANG_TIMEOUT. Errors: ErrComm, ErrFinalized. Safe from any goroutine.
func (c *Comm) HangReport(ctx context.Context) (*HangReport, error) {
	if err := c.usable("HangReport"); err != nil {
		return nil, err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	r := c.seat.job.diagnose(ctx)
	report, err := newHangReport(r)
	if err != nil {
		return nil, c.failWith("HangReport", Undefined, Undefined, ErrOther, err)
	}
	return report, nil
}

func newHangReport(r *hang.Report) (*HangReport, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return &HangReport{Text: r.Text(), JSON: text, Deadlock: r.Certain()}, nil
}

// hangs is the part of the control plane that reports.
type hangs struct {
	mu       sync.Mutex
	busy     bool
	reported map[string]bool // the states that were told
}

const (
	answerBound = 5 * time.Second        // for a process to say what its ranks do
	rollCall    = 50 * time.Millisecond  // for calls that block to look around
	confirm     = 500 * time.Millisecond // between the two looks that make a deadlock certain
	mostLooks   = 5                      // after which a job counts as one that goes on
	stateSize   = 256 << 10              // bytes of a process's answer
	mostShown   = 64                     // requests of a rank that nobody waits for
)

func (p *controlPlane) handleHangs() {
	p.Handle(askState, rankHead, func(q *question) {
		later := q.Later()
		go func() { // those who block need a moment to look around
			text, err := json.Marshal(p.job.states())
			if err != nil || len(text)+1 > stateSize {
				text, _ = json.Marshal(hang.Snapshot{})
			}
			later.Answer([]byte{answerDone}, text)
		}()
	})
	p.Handle(askStuck, rankHead, func(q *question) {
		if rank := binary.LittleEndian.Uint64(q.Head); rank < uint64(p.job.size) {
			go p.job.inquire(int(rank))
		}
		q.Answer([]byte{answerDone}, nil)
	})
}

// watchHangs has an eye on calls that block for too long.
func (j *job) watchHangs() {
	if j.set.hang == 0 {
		return
	}
	every := min(max(j.set.hang/4, 5*time.Millisecond), 30*time.Second)
	for pause(j.life, every) {
		j.wake()
		if rank, ok := j.overdue(); ok {
			j.reportStuck(rank)
			if !pause(j.life, j.set.hang) {
				return
			}
		}
	}
}

// overdue returns a rank of this process with a call that has blocked for too long.
func (j *job) overdue() (rank int, found bool) {
	for _, s := range j.seats {
		for _, w := range s.waits.all() {
			if time.Since(w.since) > j.set.hang {
				return s.rank, true
			}
		}
	}
	return 0, false
}

// reportStuck asks the first process that answers to find out what is the matter. One that was
// stopped does not, though it can be reached.
func (j *job) reportStuck(rank int) {
	head := binary.LittleEndian.AppendUint64(nil, uint64(rank))
	for first := range j.size {
		ctx, cancel := context.WithTimeout(j.life, answerBound)
		err := errors.New("it is dead")
		if j.failures.why(first) == nil {
			_, err = j.control.Call(ctx, j.process(first), askStuck, head, nil, make([]byte, 1))
		}
		cancel()
		if err == nil || j.life.Err() != nil {
			return
		}
	}
}

// inquire looks into the job, prints what it finds unless that was printed before, and ends
// the job if it can't go on.
func (j *job) inquire(rank int) {
	h := &j.control.hangs
	h.mu.Lock()
	was := h.busy
	h.busy = true
	h.mu.Unlock()
	if was {
		return
	}
	defer func() {
		h.mu.Lock()
		h.busy = false
		h.mu.Unlock()
	}()
	report := j.diagnose(j.life)
	if j.life.Err() != nil || len(report.Snapshot.Ranks[rank].Waits) == 0 {
		return // the wait is over
	}
	j.deliver(rank, report)
	if report.Certain() && j.set.hangEnds {
		j.endStuck(rank, report)
	}
}

// diagnose examines the job, and once more a moment later if what it finds seems to be certain.
func (j *job) diagnose(ctx context.Context) *hang.Report {
	report := j.examine(ctx, nil)
	if !report.Certain() {
		return report
	}
	for range mostLooks {
		if !pause(ctx, confirm) {
			break
		}
		again := j.examine(ctx, report.Silent())
		if ctx.Err() != nil {
			break
		}
		if again.Settle(report) {
			return again
		}
		report = again
	}
	report.Settle(nil)
	return report
}

// fresh reports whether a state has not been reported yet, and notes it.
func (h *hangs) fresh(state string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reported[state] {
		return false
	}
	if h.reported == nil {
		h.reported = map[string]bool{}
	}
	h.reported[state] = true
	return true
}

// deliver hands a report to the program's handler, or prints it, once for each state.
func (j *job) deliver(rank int, r *hang.Report) {
	if !j.control.hangs.fresh(r.State()) {
		return
	}
	j.hangReports.Add(1)
	if log := j.seats[0].ep.Logger(); log != nil {
		log.Error("hang", "waits", rank, "for", j.set.hang, "deadlock", r.Certain(), "reason", r.Headline())
	}
	if j.set.onHang == nil {
		fmt.Fprintf(os.Stderr, "mpi: rank %d has waited for longer than %v\n%s", rank, j.set.hang, r.Text())
		return
	}
	if report, err := newHangReport(r); err == nil {
		j.set.onHang(report)
	}
}

// endStuck ends a job that can't go on.
func (j *job) endStuck(rank int, r *hang.Report) {
	why := r.Reason()
	if j.launch == nil {
		j.end(rank, errors.New(why))
		return
	}
	j.abortAll(1, why) // the launcher's line sums up the report
}

// examine asks all processes what their ranks wait for, but for those of ranks that have been silent before.
func (j *job) examine(ctx context.Context, silent []int) *hang.Report {
	all := j.states()
	all.Size = j.size
	ctx, cancel := context.WithTimeout(ctx, answerBound)
	defer cancel()
	var mu sync.Mutex
	j.eachOther(func(rank int) {
		if slices.Contains(silent, rank) {
			return
		}
		answer := make([]byte, stateSize)
		n, err := j.control.Call(ctx, rank, askState, make([]byte, rankHead), nil, answer)
		var s hang.Snapshot
		if err != nil || answer[0] != answerDone || json.NewDecoder(bytes.NewReader(answer[1:n])).Decode(&s) != nil {
			return // it is silent
		}
		mu.Lock()
		defer mu.Unlock()
		all.Ranks = append(all.Ranks, s.Ranks...)
		all.Comms = append(all.Comms, s.Comms...)
		all.Locks = append(all.Locks, s.Locks...)
	})
	all.Ranks = append(all.Ranks, j.missed()...)
	return hang.Analyze(all)
}

// missed returns the ranks that this process knows to be gone.
func (j *job) missed() (list []hang.Rank) {
	for rank := range j.size {
		if d, gone := errors.AsType[*rankFailure](j.failures.why(rank)); gone {
			state := hang.Dead
			if d.left {
				state = hang.Finalized
			}
			list = append(list, hang.Rank{Rank: rank, State: state})
		}
	}
	return list
}
