// Package match holds the receives an endpoint has posted and finds the one an
// incoming message belongs to.
//
// # The rule
//
// A receive is posted with a 64-bit value and a mask of the bits that count.
// A message carrying the match information incoming belongs to it if and only
// if
//
//	incoming & mask == value
//
// which is written down once, in [Matches]. A value with bits outside its mask
// could never match; [Valid] tells, and the endpoint refuses such a receive
// before it gets here.
//
// # What the table promises
//
//  1. Arrive gives the oldest posted receive that matches, whatever masks the
//     posted receives carry, and takes it out of the table.
//  2. A receive is given out at most once, and never after Cancel has returned
//     true for it.
//  3. The cost of Arrive does not grow with the number of receives that don't
//     match: it compares the message with at most 64 receives, and looks once
//     into an index for each mask that has receives posted.
//  4. Once the table has seen its largest population, no call allocates.
//
// # How
//
// The newest receives stand in a short queue, which Arrive scans. The queue moves
// to the groups when it is full, or when searches have to walk far through it. A
// receive that is matched soon never enters a group.
//
// A group holds all receives with the same mask in a hash, which maps a value to
// the queue of the receives with that value. If queues of several groups match,
// the receive that was posted first is the one with the lowest posting number.
// Queues are linked through one slab, which is indexed by receive id and shared by
// all groups.
//
// Nothing in this package does input or output, reads a clock or starts a
// goroutine: the same calls give the same answers. No type may be used by two
// goroutines at once.
//
// This package is a part of gomx and no interface of it: it may change in any version. Programs use mx, exs and mpi.
package match
