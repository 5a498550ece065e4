// Package unexpected keeps messages that have arrived before a receive for them
// was posted.
//
// # What the store promises
//
//  1. Messages stand in the order of arrival. Find gives the oldest one that
//     matches, and gives the same one again until it is removed.
//  2. It takes every message. That the footprint of all stays within bounds is for
//     those who send them, and the endpoint's credit for them, to see to.
//  3. A message and its buffer stay where they are until Remove. One that is claimed
//     is out of sight, and counts all the same.
//  4. Buffers kept for later messages never amount to more than a quarter of the
//     limit, and the indexes over masks never to more than the limit itself
//     (or what 4096 messages need, if that is more). Sixteen snapshots take up to 12 bytes
//     for each message besides.
//  5. Once it has seen its largest population, the store allocates nothing, save
//     for snapshots, for messages above 64 KiB and for what the quarter of promise 4 can't hold.
//
// # How
//
// A message is a slot in a chunk of a slab, linked in order of arrival. An index
// over the full match information is always kept up. A mask with wildcards is
// answered by walking the list; where the walks prove long, the mask gets an index
// of its own, which is kept up while the mask is asked for and dropped some
// thousand messages after the last time. At most eight masks have one, or fewer if
// they would take too much. Up to sixteen others have a snapshot: a hash of the messages that there were
// when it was taken, which is taken anew when walking past those that came since has cost as much.
//
// A freed slot keeps its buffer, so that reuse of the two is one step. Buffer
// sizes are powers of two from 64 bytes to 64 KiB.
//
// Nothing in this package does input or output, reads a clock or starts a
// goroutine: the same calls give the same answers. A [Store] may not be used by
// two goroutines at once.
//
// This package is a part of gomx and no interface of it: it may change in any version. Programs use mx, exs and mpi.
package unexpected
