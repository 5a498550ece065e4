package mpi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"gomx/mpi/internal/coll"
	"gomx/mpi/internal/elem"
)

// Self returns the communicator of the rank alone (MPI_COMM_SELF); of no communicator, none.
func (c *Comm) Self() *Comm {
	if c.none() {
		return nil
	}
	s := c.seat
	s.own.Do(func() { s.self = newComm(s, selfContext, 0, []int32{int32(s.rank)}, "self") })
	with := *s.self
	with.ctx = c.ctx
	return &with
}

// derive makes a communicator of some ranks of the world, with the context of a turn, like this one in all else.
func (c *Comm) derive(turn uint64, world []int32, name string) *Comm {
	d := newComm(c.seat, contextOfTurn(turn), slices.Index(world, int32(c.seat.rank)), world, brief(name))
	d.state.made = turn
	d.ctx = c.ctx
	d.state.algorithms.Store(c.state.algorithms.Load())
	return d
}

// longestName bounds the names that communicators get from those which they were made from.
const longestName = 255

// brief leaves out the middle of a name that is too long.
func brief(name string) string {
	if len(name) <= longestName {
		return name
	}
	const end = longestName / 3
	return strings.ToValidUTF8(name[:end], "") + "..." + strings.ToValidUTF8(name[len(name)-end:], "")
}

// Dup makes another communicator of the same ranks (MPI_Comm_dup). All ranks call it. If the context of the communicator ends it at one rank,
// others may have the new one; they can only free it. Errors: ErrComm, also if
// there are too many, and what ends a collective.
func (c *Comm) Dup() (*Comm, error) {
	if err := c.usable("Dup"); err != nil {
		return nil, err
	}
	n := c.net("Dup")
	turn, err := n.context()
	if n.done(); err != nil {
		return nil, err
	}
	return c.derive(turn, c.world, c.Name()+".dup"), nil
}

// Split makes a communicator of all ranks that give the same color, in the order of their keys, and of
// their ranks where keys are equal (MPI_Comm_split). A color is at least 0; who gives Undefined gets nil. All ranks call
// it. Errors: ErrArg for another color, and those of Dup.
func (c *Comm) Split(color, key int) (*Comm, error) { return c.split("Split", color, key, "") }

// split is Split by another name. given is what all ranks must give alike, in words.
func (c *Comm) split(op string, color, key int, given string) (*Comm, error) {
	if err := c.usable(op); err != nil {
		return nil, err
	}
	if color < 0 && color != Undefined {
		return nil, c.fail(op, ErrArg, "color %d: a color is at least 0, or Undefined", color)
	}
	n := c.net(op)
	n.given = given
	n.several()
	all, turn, err := n.split(choice{int64(color), int64(key)})
	if n.done(); err != nil {
		return nil, err
	}
	if color == Undefined {
		c.seat.ids.giveBack(contextOfTurn(turn))
		return nil, nil
	}
	var ranks []int
	for r := range all {
		if all[r].Color == int64(color) {
			ranks = append(ranks, r)
		}
	}
	slices.SortStableFunc(ranks, func(a, b int) int { return cmp.Compare(all[a].Key, all[b].Key) })
	return c.derive(turn, c.inWorld(ranks), fmt.Sprintf("%s.split%d", c.Name(), color)), nil
}

// choice is what a rank gives Split.
type choice struct{ Color, Key int64 }

// split returns what all ranks give Split, and the turn of a context.
func (n *net) split(mine choice) (all []choice, turn uint64, err error) {
	all = make([]choice, n.Size())
	g := gathering{own: elem.Memory([]choice{mine}), all: elem.Memory(all), unit: elem.Size[choice](), alike: true}
	g.parts = coll.Equal(len(g.own))
	if err := n.allgather(n, &g); err != nil {
		return nil, 0, n.failRound(err)
	}
	turn, err = n.context()
	return all, turn, err
}

// inWorld returns ranks of the communicator as ranks of the world.
func (c *Comm) inWorld(ranks []int) []int32 {
	world := make([]int32, len(ranks))
	for i, r := range ranks {
		world[i] = c.world[r]
	}
	return world
}

// SplitHost is Split of the ranks that share a host (MPI_Comm_split_type with MPI_COMM_TYPE_SHARED).
func (c *Comm) SplitHost(key int) (*Comm, error) {
	const op = "SplitHost"
	if err := c.usable(op); err != nil {
		return nil, err
	}
	businessCards := c.seat.job.businessCards
	host := businessCards[c.seat.rank].host
	color := slices.IndexFunc(c.world, func(w int32) bool { return businessCards[w].host == host })
	return c.split(op, color, key, "")
}

// Create makes a communicator of a group of the ranks (MPI_Comm_create). All ranks of c call it, with the same group;
// those that are not in it get nil. Errors: ErrGroup for no group or one with other ranks, and those
// of Dup.
func (c *Comm) Create(g *Group) (*Comm, error) {
	const op = "Create"
	if err := c.usable(op); err != nil {
		return nil, err
	}
	if g == nil {
		return nil, c.fail(op, ErrGroup, "there is no group; Comm.Group makes one")
	}
	if others := g.Difference(c.Group()); others.Size() > 0 {
		return nil, c.fail(op, ErrGroup, "rank %d of the world is not in the communicator", others.world[0])
	}
	return c.among(op, g.world, ".group", c.given("ranks %v of the world", g.world))
}

// among makes a communicator of some ranks of the world. All of c call it. given is what all must give alike, in words.
func (c *Comm) among(op string, world []int32, suffix, given string) (*Comm, error) {
	n := c.net(op)
	n.given = given
	turn, err := n.context()
	if n.done(); err != nil {
		return nil, err
	}
	if !slices.Contains(world, int32(c.seat.rank)) {
		c.seat.ids.giveBack(contextOfTurn(turn))
		return nil, nil
	}
	return c.derive(turn, world, c.Name()+suffix), nil
}

// Compare says how alike two communicators are (MPI_Comm_compare). None is Identical to none.
func (c *Comm) Compare(d *Comm) Comparison {
	if c.none() || d.none() {
		if c.none() && d.none() {
			return Identical
		}
		return Unequal
	}
	if c.state == d.state {
		return Identical
	}
	if how := c.Group().Compare(d.Group()); how != Identical {
		return how
	}
	return Congruent
}

// Free frees the communicator (MPI_Comm_free). All ranks call it; it does not wait for the other ranks, nor for
// operations that are pending: those go on, and must still be waited for. Messages that no receive was posted for are
// dropped; those that arrive later are dropped by later calls of Free, Dup and Finalize, as long as the communicator is
// one of the 16 that were freed last, and otherwise when its context is about to be given to another one. One that Mprobe has taken must be received before: nobody drops it, and afterwards
// Mrecv is refused. Windows on the communicator may still be used, and must still be freed. Its resources are freed with
// the last of its nonblocking collectives. Operations that were given up go on, and use their buffers until they end. Errors: ErrComm
// for the world and for Self, and at the second call.
func (c *Comm) Free() error {
	const op = "Free"
	if err := c.usable(op); err != nil {
		return err
	}
	if c.state.context < firstContext {
		return c.fail(op, ErrComm, "it is always there")
	}
	c.state.careful.Store(true)
	if c.state.freed.Swap(true) {
		return c.fail(op, ErrComm, "it was freed")
	}
	if c.state.ends(0) {
		c.seat.forget(c)
	}
	return nil
}

// renamed gives an error the name of the call that the program has made.
func renamed(err error, op string) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.Op = op
	}
	return err
}

// peersOf returns the table of peers of a communicator: the seat's own where the ranks are
// those of the world.
func (s *seat) peersOf(world []int32) []atomic.Pointer[peer] {
	if len(world) == len(s.peers) && world[0] == 0 && ascending(world) {
		return s.peers
	}
	return make([]atomic.Pointer[peer], len(world))
}

func ascending(ranks []int32) bool {
	for i := 1; i < len(ranks); i++ {
		if ranks[i] != ranks[i-1]+1 {
			return false
		}
	}
	return true
}
