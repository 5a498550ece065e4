package mpi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gomx/mpi/internal/service"
	"gomx/mx"
)

// seat is a rank in its job: its endpoint, and its sessions with the other ranks.
type seat struct {
	job   *job
	rank  int // in the world
	ep    *mx.Endpoint
	peers []atomic.Pointer[peer] // by rank in the world; nil until one is needed

	told       atomic.Uint32 // requests that the rank completes by telling itself
	finalizing atomic.Bool   // it is in Finalize
	finalized  atomic.Bool
	allCame    atomic.Bool              // All ranks have come to Finalize. The others may leave, also while this rank is in no call.
	lost       atomic.Pointer[lostRank] // the first ErrProcFailed of the rank's calls, for Finalize

	last        Request // The collective of Finalize, while it has not ended. Only the goroutine that has set finalizing uses it.
	undelivered error   // The first error of a buffered message, which Finalize returns when the rank leaves. The same goroutine uses it.

	ids   contextIDs
	freed freedContexts
	own   sync.Once
	self  *Comm // of the rank alone

	cancelled cancelled

	copies  copies
	scratch scratchPool

	nonblocking backgrounds
	waits       longWaits
	known       knownComms

	counting     sync.Mutex    // held while counters are read, and while those of a communicator move to gone
	gone         countsPointer // collectives of communicators that were freed
	hideCounters func()        // takes the rank's counters out of snapshots
}

// giveWay yields the processor after a test in vain if ranks are goroutines: if ranks test in loops on all processors,
// the other ranks would make no progress.
func (s *seat) giveWay() {
	if s.job.launch == nil {
		runtime.Gosched()
	}
}

// lostRank is the rank of the world, or Undefined, with which a call has ended with ErrProcFailed, and why.
type lostRank struct {
	rank  int
	cause error
}

// peer is another rank that the seat is connected to.
type peer struct{ addr mx.EndpointAddr }

// sit opens the endpoint of a rank, and makes its business card.
func (j *job) sit(rank int) (*seat, businessCard, error) {
	filter := randomFilter()
	ep, err := j.open(filter)
	if err != nil {
		return nil, businessCard{}, err
	}
	s := &seat{job: j, rank: rank, ep: ep, peers: make([]atomic.Pointer[peer], j.size)}
	s.peers[rank].Store(&peer{ep.Addr()})
	s.hideCounters = mx.AddCounters(s.counterGroups)
	k := businessCard{endpointID: ep.ID(), filter: filter, cores: ownCores(j.launch == nil), checks: j.set.check, algorithms: j.set.said(), transports: outward(ep), service: j.control.Address()}
	return s, k, k.locate(ep)
}

// checkReach returns an error if no transport reaches other ranks, though there are some. All ranks are known to each
// other at that point, so that all of them learn of the error.
func (j *job) checkReach() error {
	if err := j.haveTransportsInCommon(); err != nil {
		return err
	}
	if j.size == 1 {
		return nil
	}
	for _, name := range j.seats[0].ep.TransportNames() { // self is not among them
		if name != "mem" || j.launch == nil {
			return nil
		}
	}
	return fmt.Errorf("no transport reaches another rank, and there are %d: name others in MX_TRANSPORT or WithTransports, such as shm,tcp", j.size)
}

// outward names the transports of an endpoint between processes.
func outward(ep *mx.Endpoint) string {
	return strings.Join(slices.DeleteFunc(ep.TransportNames(), func(name string) bool { return name == "mem" }), ",")
}

// haveTransportsInCommon wants each two ranks to have a transport in common.
func (j *job) haveTransportsInCommon() error {
	var first []int // of the ranks that have the same ones
	for rank := range j.businessCards {
		mine := j.businessCards[rank].transports
		if mine == "" || slices.ContainsFunc(first, func(other int) bool { return j.businessCards[other].transports == mine }) {
			continue
		}
		for _, other := range first {
			if theirs := j.businessCards[other].transports; !shareAny(strings.Split(mine, ","), strings.Split(theirs, ",")) {
				return failOp("Init", ErrLaunch, "rank %d has the transports %s, rank %d has %s: they have none in common; give all ranks the same MX_TRANSPORT or WithTransports",
					other, theirs, rank, mine)
			}
		}
		first = append(first, rank)
	}
	return nil
}

func shareAny(a, b []string) bool {
	return slices.ContainsFunc(a, func(name string) bool { return slices.Contains(b, name) })
}

// world returns the communicator of all ranks. Those in one process share the list of ranks.
func (s *seat) world(ranks []int32) *Comm { return newComm(s, worldContext, s.rank, ranks, "world") }

// orBackground is the context of a communicator without one.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// reachAll connects to ranks of a communicator; world has their numbers in the world. The errors are those of ranks that have not
// answered in time. For all other failures reach finds the reason. It ends when a rank of the communicator is known to have failed.
func (s *seat) reachAll(ctx context.Context, world []int32, ranks []int) []error {
	ctx = orBackground(ctx)
	var names []mx.PeerName
	var places []int // of those that are not known to have failed
	for i, rank := range ranks {
		if w := int(world[rank]); s.job.failures.why(w) == nil {
			names, places = append(names, s.job.businessCards[w].name()), append(places, i)
		}
	}
	ctx, over := s.job.failures.until(ctx, s.job.failures.present(world)...)
	defer over()
	late := make([]error, len(ranks))
	for patience := service.NewPatience(); len(names) > 0; {
		var addrs []mx.EndpointAddr
		var err error
		goesOn := patience.Attempt(ctx, func(ctx context.Context) { addrs, err = s.ep.ConnectAll(ctx, names) })
		failures, _ := errors.AsType[mx.ConnectAllError](err)
		left := 0
		for n, i := range places {
			switch {
			case failures == nil || failures[n] == nil:
				s.connected(int(world[ranks[i]]), addrs[n])
			case ctx.Err() == nil && goesOn && service.Silent(failures[n]):
				names[left], places[left] = names[n], i
				left++
			case !errors.Is(ctx.Err(), context.Canceled) && service.Silent(failures[n]):
				late[i] = failures[n]
			}
		}
		names, places = names[:left], places[:left]
	}
	return late
}

// reach returns the peer of a rank of the world, and connects to it first if it is not connected. Several goroutines
// may connect at once: they get the same peer.
func (s *seat) reach(ctx context.Context, rank int) (*peer, error) {
	if p := s.peers[rank].Load(); p != nil {
		return p, nil
	}
	ctx, over := s.job.failures.until(orBackground(ctx), rank)
	defer over()
	addr, err := service.Connect(ctx, func(ctx context.Context) (mx.EndpointAddr, error) {
		if why := s.job.failures.why(rank); why != nil {
			return mx.EndpointAddr{}, why
		}
		return s.job.businessCards[rank].connect(ctx, s.ep)
	})
	if err != nil {
		return nil, cmp.Or(s.job.failures.why(rank), err)
	}
	return s.connected(rank, addr), nil
}

// reachStopped is reach for a rank that may be stopped: it tries until the rank answers, is known to have failed, or ctx ends.
func (s *seat) reachStopped(ctx context.Context, rank int) (*peer, error) {
	for {
		p, err := s.reach(ctx, rank)
		if err == nil || ctx.Err() != nil || !service.Silent(err) || s.job.failures.why(rank) != nil {
			return p, err
		}
	}
}

// connected notes a rank's address.
func (s *seat) connected(rank int, addr mx.EndpointAddr) *peer {
	p := &peer{addr}
	s.peers[rank].Store(p)
	if why, dead := errors.AsType[*rankFailure](s.job.failures.why(rank)); dead && !why.left {
		s.job.giveUp(rank) // it was found dead meanwhile
	}
	return p
}
