// Package segment makes, maps and passes sealed pieces of shared memory. Linux
// only; elsewhere the package is empty.
//
// The rules it relies on:
//
//   - A segment is a memfd. It has no name in the file system, so nothing can be
//     left behind: it goes when the last descriptor and the last mapping go.
//   - Its size is sealed before anybody else sees it. Map refuses memory that
//     could still shrink, since touching a page past the end would kill us with
//     SIGBUS. What the bytes say is never trusted, only that they are there.
//   - Whoever made a Mem unmaps it, with Close, after the last user of Bytes and
//     of the words in it has gone. A slice or word kept longer is a wild pointer:
//     the garbage collector knows nothing of this memory.
//   - No Go pointers in shared memory: positions are offsets from its beginning.
//   - A mapping begins on a page; Word32 and Word64 check alignment and bounds
//     once, so that later uses of the word need no check.
//   - Descriptors carry close-on-exec from the moment they exist. A function that
//     is given a descriptor to own closes it also when it fails.
//
// Memory order is up to who uses the words: they are for sync/atomic, of which every
// operation is at least an acquire or a release on all processors, also between two
// processes. A plain store or load of theirs is right only where the package that
// makes it says why.
//
// Read mem.go first, then fds.go.
package segment
