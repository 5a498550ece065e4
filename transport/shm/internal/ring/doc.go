// Package ring is one direction of a connection through shared memory: frames
// from one writer to one reader.
//
// It works on any bytes, shared or not, so that it can be tested without a
// second process. It is one of the rooms where unsafe is allowed; what it relies
// on:
//
//   - The memory begins on a 64-byte boundary, is Size bytes long, and stays
//     mapped until both ends are done. No Go pointer is ever stored in it.
//   - The other side may be hostile. Every word it can write is loaded once,
//     checked, and then used from the copy.
//   - Stores become visible in the order they are made. amd64 does that for plain
//     stores; elsewhere publish is an atomic store (publish_amd64.go,
//     publish_other.go). A plain store leaves the core free to go on while the
//     line travels, which nearly doubles the message rate.
//
// Layout, all positions in 64-byte lines:
//
//	line 0         the reader's position, and whether the writer waits for it;
//	               the writer looks at it only when it believes the ring full
//	line 1 to 512  slots of half a line: one or two hold a frame
//	the rest       payload of larger frames, in pieces that never wrap
//
// A message of up to 16 bytes takes one slot. Its sequence number and session are
// not written: it is compact only if they follow from the frame before.
//
//	 0      1         2       4        8       16        32
//	+------+---------+-------+--------+-------+---------+
//	| kind | compact | stamp | length | match | payload |
//	+------+---------+-------+--------+-------+---------+
//
// Any other frame takes the two slots of a line. The second slot's first word
// holds a stamp too, and is nothing else.
//
//	 0      1       2       4        8       16              24      32      40           64
//	+------+-------+-------+--------+-------+---------------+-------+-------+------------+
//	| kind | flags | stamp | length | match | seq, session  | place | stamp | extensions,|
//	+------+-------+-------+--------+-------+---------------+-------+-------+ payload    +
//
// A payload that does not fit behind the extensions lies in the rest, at its
// place. A slot that is left over at the end of a line is filled with kind 0.
//
// The first word of a frame is stored last. The stamp is the lap of the ring, so
// a slot is new exactly if its stamp is the reader's lap: nobody ever clears one.
// How the rest is used is the writer's business alone, which therefore begins
// with little of it and takes more when it has to wait: memory is touched as it is
// needed.
package ring
