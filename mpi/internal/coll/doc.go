// Package coll holds the algorithms of collective operations: which rank sends what to
// which other, when, and what is combined. How bytes get there is up to a Net.
//
// The ways to do an operation are functions of their own (see Algorithm for the names).
// Choose takes one by what is done, how many bytes, among how many ranks, and whether
// the ranks have cores of their own; Overrides change its mind.
//
// Reductions combine in the order of the ranks: what comes of lower ranks stands on the
// left. An operation therefore need only be associative. Where the brackets stand
// depends on the algorithm and the number of ranks, and on nothing that happens at run
// time, so that the same program yields the same bits every time. The ring is the
// exception: it needs an operation that is commutative too, and is taken only if asked for.
//
// All functions of one operation must be called by all ranks, with the same algorithm. None
// allocates, save what the Net does.
//
// An algorithm that is given a Plan carries nothing out: it notes its steps, which a nonblocking collective then takes one by one as messages arrive. For that,
// what an algorithm does with data itself goes through move, combine and Do, and nothing it decides depends on data.
//
// Read net.go next, then barrier.go, which is the shortest.
package coll
