// Package unexpected keeps messages that have arrived before a receive for them
// was posted.
//
// # What the store promises
//
//  1. The store keeps the order of arrival. Find returns the oldest message that
//     matches, and returns the same message again until it is removed or claimed.
//  2. The store accepts every message. The endpoint bounds the footprint of all
//     messages by the credit that it grants to senders.
//  3. A message and its buffer stay where they are until Remove. Searches do not find
//     a claimed message, but its footprint is counted until Remove.
//  4. Buffers kept for later messages never amount to more than a quarter of the
//     limit. The indexes over masks never amount to more than the limit, except that
//     two indexes, or eight over at most 4096 messages, are always permitted. Each of
//     at most sixteen snapshots takes up to 12 bytes for each message.
//  5. Once the store has held its largest number of messages, it allocates only
//     snapshots, messages above 64 KiB, and buffers that the quarter of promise 4
//     has no room for.
//
// # How
//
// A message is an entry in a chunk of a slab, and the entries are linked in order of
// arrival. An index over the full match information is always up to date. A search
// with wildcards walks along the list. If such walks prove long, their mask gets an
// index of its own, which is dropped if no search has used it for some thousand
// messages. At most eight masks have an index, or fewer if the indexes would take too
// much memory. Up to sixteen other masks have a snapshot, which is a hash of the
// messages that were stored when it was taken. A snapshot is renewed when walking past
// newer messages has cost as much as renewing it.
//
// A free entry keeps its buffer, so that one step reuses both. Buffer sizes are
// powers of two from 64 bytes to 64 KiB.
//
// Nothing in this package does input or output, reads a clock or starts a
// goroutine: the same calls give the same answers. A [Store] may not be used by
// two goroutines at once.
//
// This package is a part of gomx and no interface of it: it may change in any version. Programs use mx, exs and mpi.
package unexpected
