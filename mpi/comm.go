package mpi

import (
	"context"
	"sync"
	"sync/atomic"

	"gomx/mpi/internal/coll"
)

// Comm is a communicator as one of its ranks sees it (MPI_Comm). Its methods, and the functions that take one, may be
// called from any goroutine, but collective ones must be called in the same order on all ranks. With a nil Comm, which
// Split gives to a rank that is left out, or a zero one, they return ErrComm; those without an error result report that
// there are no ranks.
type Comm struct {
	seat  *seat
	peers []atomic.Pointer[peer] // by rank; nil until one is needed
	out   uint64                 // the match bits of what this rank sends, but for the tag
	rank  int
	world []int32         // the ranks in the world, by rank
	ctx   context.Context // ends calls that block; nil: nothing does
	state *commState
}

// commState is what a communicator and its forms with contexts share.
type commState struct {
	context uint32        // the context of the program's messages; collectives have the next one
	freed   atomic.Bool   // by the program
	careful atomic.Bool   // calls take the slow path: it was freed, or types are checked
	turn    atomic.Uint64 // twice the number of collectives that have started, and 1 while one uses first

	connected atomic.Bool // with all ranks, as far as a collective has looked

	crowd      atomic.Int32 // ranks that share a core where they are densest; 0: not known yet
	algorithms atomic.Pointer[coll.Overrides]

	made  uint64 // the turn of its context
	asked uint64 // the turn of the freed communicator that the last call which made one has asked about

	collectives countsPointer

	first net
	mu    sync.Mutex
	name  string
	nets  []*net // further ones, that no collective uses

	left     atomic.Int32 // the number of leavings
	leavings []*leavings  // the oldest first
	tidied   int          // how many of them tidy has looked at since it last began with the oldest
	holders  int          // nonblocking collectives that have not ended, and notices for ranks that are not connected
	over     bool         // it was freed, and nothing holds it
}

// newComm makes a communicator of a seat.
func newComm(s *seat, context uint32, rank int, world []int32, name string) *Comm {
	c := &Comm{seat: s, rank: rank, world: world, out: bitsOf(context, rank), peers: s.peersOf(world),
		state: &commState{context: context, name: name}}
	c.state.careful.Store(c.checksTypes())
	s.known.add(c)
	return c
}

// none reports whether there is no communicator.
func (c *Comm) none() bool { return c == nil || c.state == nil }

// Rank returns the caller's rank, from 0 to Size()-1 (MPI_Comm_rank), and Undefined if there is no communicator.
func (c *Comm) Rank() int {
	if c.none() {
		return Undefined
	}
	return c.rank
}

// Size returns how many ranks there are (MPI_Comm_size).
func (c *Comm) Size() int {
	if c.none() {
		return 0
	}
	return len(c.peers)
}

// Name returns the communicator's name, for people (MPI_Comm_get_name). One that was made from another has that one's name in its own, without the
// middle if that would have more than 255 bytes.
func (c *Comm) Name() string {
	if c.none() {
		return ""
	}
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	return c.state.name
}

// SetName gives the communicator a name, on this rank (MPI_Comm_set_name). Errors and hang reports have the first 100 bytes of it, with escapes for
// what a terminal would not print.
func (c *Comm) SetName(name string) {
	if c.none() {
		return
	}
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	c.state.name = name
}

// WithContext returns the same communicator with a context: blocking calls on it return when ctx ends, with an error that
// wraps ctx's error and ErrGivenUp.
//
// Such a call gives up its operation. A receive that no message has matched is cancelled, and its buffer may be reused. All
// other operations go on: a send is still read from its buffer, and a matched message is still written to its buffer, at
// any time until the other rank has done its part or has failed. The program must not reuse such a buffer before, but it
// may drop its references to it. For a collective this holds for all of its buffers. An operation that was still waiting for
// the first connection to a rank was not started, and its error also wraps ErrNotBegun. A collective that was given up counts
// as called: if the other ranks call it too, later collectives on the communicator work. On the other ranks it either
// succeeds or returns ErrOther with the rank that has given it up. Free ignores the context.
//
// Nonblocking sends and receives with ctx are not given up. When ctx ends, a wait for one returns an error that wraps ctx's
// error but not ErrGivenUp, and the request stays: Request.Empty is false, and the program may wait for it again, without
// ctx by Request.WaitContext. A nonblocking collective ends with ctx like a blocking one: the next wait or test returns its
// error, and the request is empty then.
//
// Communicators that are made from this one, by Dup, Split, Create, Cart, Self and so on, and windows on it, have the same
// context. WithContext on them replaces it, or removes it if ctx is nil. WithContext of a nil communicator returns nil.
func (c *Comm) WithContext(ctx context.Context) *Comm {
	if c == nil {
		return nil // as Split and its like give ranks that are left out: calls on it say what is wrong
	}
	with := *c
	with.ctx = ctx
	return &with
}

// usable returns why calls on the communicator can't work, if that is so.
func (c *Comm) usable(op string) error {
	switch {
	case c.none():
		return failOp(op, ErrComm, "there is no communicator: Init, Run or Main make the first one, and Split and its like none for a rank that they leave out")
	case c.state.freed.Load():
		return c.fail(op, ErrComm, "it was freed")
	}
	return c.seat.usable(c, op)
}

// usable returns why the rank can't do anything any more, if that is so.
func (s *seat) usable(c *Comm, op string) error {
	if end := s.job.ending.Load(); end != nil {
		return c.failWith(op, Undefined, Undefined, ErrAborted, end)
	}
	if s.finalized.Load() {
		return c.fail(op, ErrFinalized, "rank %d of the world has called Finalize", s.rank)
	}
	return nil
}

// ready reports whether messages can go between this rank and another, as far as the arguments say. If
// not, checkPeer says why.
func (c *Comm) ready(rank, tag int) bool {
	return c != nil && uint(rank) < uint(len(c.peers)) && uint(tag) <= TagUB && !c.state.careful.Load()
}

// checkPeer returns what is wrong with a rank and a tag.
func (c *Comm) checkPeer(op string, rank, tag int, wild bool) error {
	if err := c.usable(op); err != nil {
		return err
	}
	any := wild && rank == AnySource
	if !any && rank != ProcNull && (rank < 0 || rank >= len(c.peers)) {
		return c.failWith(op, rank, tag, ErrRank, noRank(rank, len(c.peers)))
	}
	if (tag < 0 || tag > TagUB) && !(wild && tag == AnyTag) {
		return c.failWith(op, rank, tag, ErrTag, noTag(tag))
	}
	return nil
}

// peer returns the peer of a rank, and connects with it if that is the first time.
func (c *Comm) peer(op string, rank, tag int) (*peer, error) {
	if p := c.peers[rank].Load(); p != nil {
		return p, nil
	}
	waits := &c.seat.waits
	long := waits.enterNeed(c, op, c.connecting(rank))
	p, err := c.seat.reach(c.ctx, int(c.world[rank]))
	waits.leave(long)
	if err != nil {
		return nil, c.unreachable(op, rank, tag, err)
	}
	c.peers[rank].Store(p)
	return p, nil
}
