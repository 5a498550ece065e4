// Package ring is one direction of a connection through shared memory: frames
// from one writer to one reader.
//
// It works on any bytes, shared or not, so that it can be tested without a
// second process. It is one of the packages that may use unsafe. It relies
// on these rules:
//
//   - The memory begins on a 64-byte boundary, is Size bytes long, and stays
//     mapped until both ends are done. No Go pointer is ever stored in it.
//   - The other side may be hostile. Every word it can write is loaded once,
//     checked, and then used from the copy.
//   - Memory is ordered as "Memory order" below says.
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
//	| kind | flags | stamp | length | match | seq, session  | offset| stamp | extensions,|
//	+------+-------+-------+--------+-------+---------------+-------+-------+ payload    +
//
// A payload that does not fit behind the extensions lies in the rest, at its
// offset there. A slot that is left over at the end of a line is filled with kind 0.
//
// The first word of a frame is stored last. The stamp is the generation of the slot,
// which is one more each time that the ring wraps. A slot is new exactly if its stamp
// is the generation that the reader expects, so slots are never cleared. Only the
// writer decides how the rest is used. It begins with little of it and takes more when
// it has to wait, so that memory is touched as it is needed.
//
// # Memory order
//
// Two words carry all order, one each way:
//
//   - The writer stores a frame's first word last (publish); the reader loads it
//     atomically, and reads the rest of the frame only if the stamp is new. The
//     other fields and the payload are plain stores before, and plain loads after.
//   - The reader stores its position when it has done with the frames before it
//     (Publish); the writer loads it atomically, and writes into those slots and
//     their payload only afterwards.
//
// On arm64 an atomic store is a release and an atomic load an acquire: what is
// before the one is seen by what is after the other. On amd64 stores are seen in
// their order and loads are made in theirs, and no store passes an earlier load,
// so that publish is a plain store there (publish_amd64.go). It leaves the core
// free to go on while the line travels, which nearly doubles the message rate.
//
// # The request for room
//
// This needs more, for each side stores one word and then loads the other's:
//
//	the writer (want)        W1 wanted = 1          W2 load the position
//	the reader (Publish)     R1 store the position  R2 load wanted, tell if not 0
//
// At least one of W2 and R2 must see what the other side has stored, or the
// writer sleeps though there is room. A release and an acquire do not give that:
// a core may keep a store to itself until a later load of another word is done.
// So W1 and R1 are exchanges, which on amd64 drain the store buffer. On arm64 an
// exchange ends in a store-release, which a later load-acquire does not pass. The
// writer comes here only when the ring is full, and the reader every PublishEvery
// frames or when it has nothing else to do.
//
// TestRequestMeetsRoom finds each of the three shorter versions (without W2,
// without the exchange in R1, without both) within some ten thousand rounds on
// amd64.
//
// # What runs under qemu-user show
//
// The tests of this package, of the arena, of exports and of the endpoint's lock
// run for arm64 under qemu-user on amd64, too (.ci/run). That shows that the files
// for other processors and what the compiler makes of them are right, and finds a
// missing barrier between a store and a later load, which amd64 reorders as well.
// qemu is even weaker than the architecture there: version 7.2 puts no barrier
// between a store-release and a later load-acquire, and TestRequestMeetsRoom fails
// with atomic stores in place of the exchanges. But it can't show a reordering that
// amd64 does not do: of loads, of stores, or of a store before an earlier load. For
// those there are only the arguments here and in transport/shm/doc.go.
package ring
