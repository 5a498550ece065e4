package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gomx/cmd/internal/processes"
	mpilive "gomx/mpi/live"
	"gomx/mx"
	"gomx/mx/live"
)

const (
	askWaits     = 5 * time.Second // between two looks at what ranks wait for: it wakes up those that do
	mostRequests = 500             // that a view has
	mostSteps    = 600             // of who waits for whom, that a job in a view has
	longAgo      = 1.0             // seconds from which on a request counts as one that is blocked
)

// collector makes views, each with the rates since the one before.
type collector struct {
	watcher *live.Watcher
	board   int64 // -1: all

	last    map[endpointKey]*counted
	jobs    []mpilive.Job
	seats   map[endpointKey]seat
	jobsAt  time.Time
	pending bool // the next view asks what ranks wait for, however soon
}

// endpointKey tells endpoints apart, those included that take the id of one that was closed.
type endpointKey struct {
	pid  int
	name string
}

// seat is the rank whose an endpoint is.
type seat struct {
	job  string
	rank int
}

// counted is what had been counted of an endpoint.
type counted struct {
	taken, opened time.Time
	counters      map[string]uint64
	frames        map[string]uint32 // by peer
}

func newCollector(pids []int, board int64) *collector {
	return &collector{watcher: processes.Watcher(pids), board: board, last: map[endpointKey]*counted{}}
}

// findBoard returns an error if there is no such board.
func (c *collector) findBoard() error {
	if c.board < 0 {
		return nil
	}
	readings, _, err := c.watcher.Read(false)
	if err != nil {
		return err
	}
	return processes.OnBoard(c.board, readings)
}

// collect reads the processes.
func (c *collector) collect() (*view, error) {
	waits := c.pending || time.Since(c.jobsAt) >= askWaits
	readings, quiet, err := c.watcher.Read(waits)
	if err != nil {
		return nil, err
	}
	processes.CleanAll(&readings)
	if waits {
		before := c.jobs
		c.jobs, c.jobsAt, c.pending = mpilive.Jobs(readings), time.Now(), false
		c.settle(before)
		c.seats = c.seatsOf(quiet)
		for _, j := range c.jobs {
			for _, r := range j.Ranks {
				c.seats[endpointKey{r.PID, r.Endpoint}] = seat{j.ID, r.Rank}
			}
		}
	}
	v := &view{Taken: time.Now(), Endpoints: []row{}, Jobs: []job{}, Talk: []pair{}, Requests: []request{}, Blocked: []blocked{}, Silent: []silent{}}
	now := map[endpointKey]*counted{}
	for _, r := range readings {
		for i := range r.Endpoints {
			if ep := &r.Endpoints[i]; c.board < 0 || int64(ep.Board) == c.board {
				key := endpointKey{r.PID, ep.Name}
				now[key] = count(r, ep)
				c.add(v, r, ep, now[key], c.last[key])
			}
		}
	}
	c.last = now
	for i := range c.jobs {
		v.Jobs = append(v.Jobs, c.jobView(&c.jobs[i]))
	}
	for _, q := range quiet {
		v.Silent = append(v.Silent, c.silentView(q))
	}
	slices.SortStableFunc(v.Endpoints, func(a, b row) int {
		if (a.Rank < 0) != (b.Rank < 0) { // ranks come first
			return b.Rank - a.Rank
		}
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.PID, b.PID))
	})
	v.findBlocked()
	slices.SortStableFunc(v.Requests, func(a, b request) int { return cmp.Or(cmp.Compare(a.order(), b.order()), cmp.Compare(b.Age, a.Age)) })
	v.Requests = v.Requests[:min(len(v.Requests), mostRequests)]
	return v, nil
}

// settle has a deadlock count as certain when two looks in a row have found it.
func (c *collector) settle(before []mpilive.Job) {
	for i := range c.jobs {
		var earlier *mpilive.Report
		if k := slices.IndexFunc(before, func(j mpilive.Job) bool { return j.ID == c.jobs[i].ID }); k >= 0 {
			earlier = before[k].Report
		}
		if !c.jobs[i].Report.Settle(earlier) {
			c.pending = true
		}
	}
}

// seatsOf returns the ranks of processes that do not answer at the moment.
func (c *collector) seatsOf(quiet []live.Silent) map[endpointKey]seat {
	kept := map[endpointKey]seat{}
	for key, s := range c.seats {
		if slices.ContainsFunc(quiet, func(q live.Silent) bool { return q.PID == key.pid }) {
			kept[key] = s
		}
	}
	return kept
}

func count(r *mx.LiveReading, ep *mx.EndpointSnapshot) *counted {
	n := &counted{taken: r.Taken, opened: ep.Opened, counters: map[string]uint64{}, frames: map[string]uint32{}}
	for _, k := range ep.Counters {
		n.counters[k.Name] = k.Value
	}
	for _, p := range ep.Peers {
		n.frames[p.Name] = p.FramesSent
	}
	return n
}

// add adds an endpoint to a view. before is nil for one that is new.
func (c *collector) add(v *view, r *mx.LiveReading, ep *mx.EndpointSnapshot, now, before *counted) {
	over := 0.0
	if before != nil && before.opened.Equal(now.opened) {
		over = now.taken.Sub(before.taken).Seconds()
	}
	v.Over = max(v.Over, over)
	rate := func(name string) float64 {
		if over <= 0 || now.counters[name] < before.counters[name] {
			return 0
		}
		return float64(now.counters[name]-before.counters[name]) / over
	}
	s, ranked := c.seats[endpointKey{r.PID, ep.Name}]
	if !ranked {
		s.rank = -1
	}
	e := row{
		Name: processes.Clean(ep.Name), PID: r.PID, Command: processes.Clean(r.Command), Job: s.job, Rank: s.rank,
		Transports: processes.Clean(cmp.Or(strings.Join(ep.Transports, ","), "self")), Open: r.Taken.Sub(ep.Opened).Seconds(),
		Sent: rate("messages_sent"), Received: rate("messages_received"), SentBytes: rate("sent_bytes"), ReceivedBytes: rate("received_bytes"),
		Posted: ep.Depths.Posted, Pending: ep.Depths.Pending, Unexpected: ep.Depths.Unexpected,
		UnexpectedBytes: ep.Depths.UnexpectedBytes, UnexpectedBound: ep.Depths.UnexpectedBound,
	}
	for _, p := range ep.Peers {
		if p.FramesSent == 0 && p.Failure == "" {
			continue
		}
		w := pair{From: e.Name, PID: r.PID, To: processes.Clean(p.Name), Transport: processes.Clean(p.Transport), Frames: p.FramesSent, Failure: processes.Clean(p.Failure)}
		if over > 0 && p.FramesSent >= before.frames[p.Name] {
			w.Rate = float64(p.FramesSent-before.frames[p.Name]) / over
		}
		v.Talk = append(v.Talk, w)
	}
	for _, p := range ep.Pending {
		e.Oldest = max(e.Oldest, p.Age)
		v.Requests = append(v.Requests, request{e.Name, r.PID, processes.Clean(p.Kind), processes.Clean(p.Peer), fmt.Sprintf("%#x", p.MatchInfo),
			fmt.Sprintf("%#x", p.MatchMask), p.Bytes, processes.Clean(p.Stage), p.Held, p.Age})
	}
	v.Endpoints = append(v.Endpoints, e)
}

// jobView is a job as it is shown.
func (c *collector) jobView(j *mpilive.Job) job {
	out := job{ID: processes.Clean(j.ID), Command: processes.Clean(j.Command), Size: j.Size, Ranks: []rank{}, Steps: []step{}, Groups: []string{},
		Verdict: split(j.Report.Verdict()), Age: time.Since(c.jobsAt).Seconds()}
	where := map[int]mpilive.Rank{}
	for key, s := range c.seats {
		if s.job == j.ID {
			where[s.rank] = mpilive.Rank{Rank: s.rank, PID: key.pid, Endpoint: key.name}
		}
	}
	for i := range j.Report.Snapshot.Ranks {
		r := rank{Rank: i, PID: where[i].PID, Endpoint: processes.Clean(where[i].Endpoint), State: processes.Clean(string(j.Report.Snapshot.Ranks[i].State))}
		for _, line := range j.Report.Lines(i) {
			r.Lines = append(r.Lines, processes.Clean(line))
		}
		out.Ranks = append(out.Ranks, r)
	}
	out.Steps = steps(j.Report)
	for _, g := range j.Report.Groups {
		out.Groups = append(out.Groups, processes.Clean(g.Text()))
	}
	return out
}

// steps are those of a report, the circular ones first.
func steps(r *mpilive.Report) []step {
	all, list, circular := r.Steps(), []step{}, map[[2]int]bool{}
	for _, c := range r.Cycles {
		for _, s := range c.Steps {
			circular[[2]int{s.Rank, s.Next}] = true
		}
	}
	for _, wanted := range []bool{true, false} {
		for _, s := range all {
			if len(list) < mostSteps && circular[[2]int{s.Rank, s.Next}] == wanted {
				list = append(list, step{s.Rank, s.Next, processes.Clean(r.Describe(s)), wanted})
			}
		}
	}
	return list
}

func split(text string) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, processes.Clean(strings.TrimSuffix(line, "\n")))
	}
	return lines
}

func (c *collector) silentView(q live.Silent) silent {
	s := silent{PID: q.PID, Error: processes.Clean(q.Err.Error()), Endpoints: []string{}, Ranks: []int{}}
	for key, at := range c.seats {
		if key.pid == q.PID {
			s.Ranks = append(s.Ranks, at.rank)
		}
	}
	slices.Sort(s.Ranks)
	if q.Last == nil {
		return s
	}
	s.Command = processes.Clean(q.Last.Command)
	for _, ep := range q.Last.Endpoints {
		s.Endpoints = append(s.Endpoints, processes.Clean(ep.Name))
	}
	return s
}
