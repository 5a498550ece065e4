package mpi

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"gomx/mpi/internal/hang"
	"gomx/mpi/launch"
	"gomx/mx"
)

// states says what the ranks of this process wait for.
func (j *job) states() (s hang.Snapshot) {
	j.wake()
	pause(j.life, rollCall)
	seen := map[string]bool{}
	for _, seat := range j.seats {
		s.Ranks = append(s.Ranks, seat.state())
		for _, c := range seat.known.withFreed() {
			if id := c.identity(); !seen[id] {
				seen[id] = true
				s.Comms = append(s.Comms, c.describe(id))
			}
		}
	}
	for _, e := range j.control.exposures() {
		e.mu.Lock()
		if holders := e.lock.Holders(); len(holders) > 0 && e.own != nil {
			s.Locks = append(s.Locks, hang.Held{Comm: e.own.identity(), Target: e.c.seat.rank, Holders: holders})
		}
		e.mu.Unlock()
	}
	return s
}

// identity names a communicator, the same at all members: of those with the same context
// at a time no two have a rank in common.
func (c *Comm) identity() string {
	return fmt.Sprintf("%d@%d", c.state.context, slices.Min(c.world))
}

func (c *Comm) describe(id string) hang.Comm {
	d := hang.Comm{ID: id, Name: launch.Name(c.Name())}
	for _, rank := range c.world {
		d.Members = append(d.Members, int(rank))
	}
	return d
}

// state says what a rank waits for.
func (s *seat) state() hang.Rank {
	r := hang.Rank{Rank: s.rank, State: hang.NoCall, PID: os.Getpid()}
	r.Host, _ = os.Hostname()
	if s.finalized.Load() {
		r.State = hang.Finalized
		return r
	}
	v := s.view()
	for _, w := range s.waits.all() {
		v.add(&r, w)
	}
	for _, b := range s.nonblocking.all() {
		if w, asked := b.blocked(); w != nil {
			v.background[w.id] = asked
			v.add(&r, w)
		}
	}
	slices.SortFunc(r.Waits, func(a, b hang.Wait) int { return int(a.ID) - int(b.ID) })
	if len(r.Waits) > 0 {
		r.State = hang.Waits
	}
	v.setAside(&r)
	for _, p := range v.pending {
		n, ok := v.need(&p, "")
		if ok && n.Kind != hang.Collective && len(r.Pending) < mostShown {
			r.Pending = append(r.Pending, n)
		}
	}
	for _, c := range v.comms {
		r.Reached = append(r.Reached, hang.Stand{Comm: c.identity(), Number: int(uint64(c.state.turn.Load()>>1) & tagMask)})
	}
	slices.SortFunc(r.Reached, func(a, b hang.Stand) int { return strings.Compare(a.Comm, b.Comm) })
	return r
}

// view is the state of a seat while it is being described.
type view struct {
	pending    map[mx.Request]mx.PendingRequest
	comms      map[uint32]*Comm
	ranks      map[mx.EndpointAddr]int // in the world
	background map[uint64]mx.Request   // by the id of a collective's own wait: the request with which the program waits for the collective, or zero
	awaited    map[mx.Request]awaiting // by such a request: the calls that wait with it now
}

// awaiting describes the calls that wait for a nonblocking collective.
type awaiting struct {
	age  float64 // of the oldest, in seconds
	ends bool    // a context may end one of them
}

func (s *seat) view() *view {
	v := &view{pending: map[mx.Request]mx.PendingRequest{}, comms: map[uint32]*Comm{}, ranks: map[mx.EndpointAddr]int{}, background: map[uint64]mx.Request{}, awaited: map[mx.Request]awaiting{}}
	for _, p := range s.ep.Pending() {
		if !p.Request.IsZero() {
			v.pending[p.Request] = p
		}
	}
	for _, c := range s.known.withFreed() {
		v.comms[c.state.context] = c
	}
	for rank := range s.peers {
		if p := s.peers[rank].Load(); p != nil {
			v.ranks[p.addr] = rank
		}
	}
	return v
}

// add describes a call that blocks.
func (v *view) add(r *hang.Rank, w *longWait) {
	out := hang.Wait{Call: w.call, Any: w.any, Age: time.Since(w.since).Seconds(), Least: len(w.reqs) > 0, ID: w.id}
	out.Ends, out.Left = endOf(w.ctx)
	if len(w.reqs) == 0 {
		out.Needs = v.left(w)
		for i := range out.Needs {
			out.Needs[i].Age = out.Age
		}
	}
	for _, q := range w.reqs {
		p, ok := v.pending[q]
		if !ok {
			continue // it is complete by now, or empty
		}
		if contextOf(p.MatchInfo) == inwardContext {
			a := v.awaited[q]
			v.awaited[q] = awaiting{max(a.age, out.Age), a.ends || out.Ends}
			continue
		}
		if n, ok := v.need(&p, w.call); ok {
			n.Age = out.Age
			out.Needs = append(out.Needs, n)
			defer delete(v.pending, q)
		}
	}
	if len(out.Needs) > 0 {
		r.Waits = append(r.Waits, out)
	}
}

// left returns what a call waits for that is no requests. Of many ranks that it connects with those are left that are being asked, as far as these can
// be told from the others; the rest is connected, or has not had its turn.
func (v *view) left(w *longWait) []hang.Need {
	if len(w.needs) < 2 {
		return slices.Clone(w.needs)
	}
	asked := map[mx.PeerName]bool{}
	for _, p := range v.pending {
		if nic, id, err := mx.DecomposeEndpointAddr(p.Peer); p.Kind == "connect" && err == nil {
			asked[mx.PeerName{NIC: nic, Endpoint: id}] = true
		}
	}
	var left []hang.Need
	for _, n := range w.needs {
		name := w.c.seat.job.businessCards[n.Peer].name()
		if name.Filter = 0; asked[name] && len(left) < mostShown {
			left = append(left, n)
		}
	}
	if left == nil {
		return slices.Clone(w.needs[:min(len(w.needs), mostShown)])
	}
	return left
}

// endOf says whether a context may end, and in how many seconds it does if that is known.
func endOf(ctx context.Context) (may bool, left float64) {
	if ctx == nil || ctx.Done() == nil {
		return false, 0
	}
	if at, known := ctx.Deadline(); known {
		left = max(0, time.Until(at).Seconds())
	}
	return true, left
}

// setAside lists nonblocking collectives for which no call waits as pending, since the rank does not wait for them. The others get what the calls
// that wait for them have.
func (v *view) setAside(r *hang.Rank) {
	kept := r.Waits[:0]
	for _, w := range r.Waits {
		if asked, is := v.background[w.ID]; is {
			a, waits := v.awaited[asked]
			if !waits {
				r.Pending = append(r.Pending, w.Needs...)
				continue
			}
			w.Ends, w.Age = w.Ends || a.ends, max(w.Age, a.age)
			for n := range w.Needs {
				w.Needs[n].Age = w.Age
			}
		}
		kept = append(kept, w)
	}
	r.Waits = kept
	if len(kept) == 0 {
		r.State = hang.NoCall
	}
}

// need describes a request. False: it is none of the program's, or of a communicator that is
// not there any more.
func (v *view) need(p *mx.PendingRequest, call string) (n hang.Need, ok bool) {
	n = hang.Need{Op: opOf(p, call), Bytes: uint64(p.Bytes), Stage: p.Stage}
	if p.Kind == "put" || p.Kind == "get" {
		peer, known := v.ranks[p.Peer]
		n.Kind, n.Peer = hang.Answer, peer
		return n, known && call != ""
	}
	context := contextOf(p.MatchInfo)
	c := v.comms[context&^1]
	if c == nil {
		return n, false
	}
	n.Comm, n.Tag = c.identity(), tagOf(p.MatchInfo)
	switch {
	case context&1 != 0:
		n.Kind = hang.Collective
	case p.Kind == "recv":
		n.Kind = hang.Recv
		if p.MatchMask&tagMask == 0 && p.MatchMask != 0 {
			n.Tag = hang.Any
		}
		n.Peer = hang.Any
		if source := sourceOf(p.MatchInfo); p.MatchMask == 0 || p.MatchMask&rankMask != 0 {
			n.Peer = c.worldRank(source)
		}
	default:
		n.Kind = hang.Send
		n.Peer, ok = v.ranks[p.Peer]
		return n, ok
	}
	return n, true
}

// opOf names the function that a request comes from, as far as one can tell.
func opOf(p *mx.PendingRequest, call string) string {
	if call != "" {
		return call
	}
	switch p.Kind {
	case "recv":
		return "Irecv"
	case "ssend":
		return "Issend"
	}
	return "Isend"
}

func contextOf(match uint64) uint32 { return uint32(match >> contextShift) }
