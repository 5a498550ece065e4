// Package shm is the medium between processes of one host: a ring in shared
// memory each way, and for large messages the method of copying that is fastest.
//
// Endpoints meet on an abstract unix socket named after board and endpoint id.
// Binding it claims the id; the kernel tells each side who the other is, and
// only the same user is welcome. The memory and the doorbells cross the socket
// as descriptors: nothing has a name in the file system, so nothing is ever left
// behind. The end of the socket says that the peer has ended.
//
// A pair of endpoints shares one segment with two rings. Large messages are copied
// once, by the receiver, out of the peer's arena if the sender's memory came from
// Alloc, or with process_vm_readv. Or they are copied twice, by pipelined rendezvous
// through the ring, which keeps two cores busy at once and is often quicker. Each link
// measures the methods and chooses adaptively (choose.go). A copy stops after each MiB until the next Poll, so that other
// peers and the endpoint's timers get their turn. Whether a peer can be read is proven at connect by reading a nonce
// of it; where it can't, or ever fails, the ring serves.
//
// The files: transport.go claims the id, accept.go and dial.go do the handshake, whose
// message is in hello.go, link.go and poll.go move frames, exports.go, pull.go and choose.go copy
// large messages, arena.go is Alloc and Free, death.go watches for the end.
//
// # Memory order
//
// Between two processes bytes are handed over in four ways:
//
//   - A frame, by the first word of its slot, and the room that it took, by the
//     reader's position: see package ring.
//   - A wake-up, by the word of a doorbell: see package bell.
//   - The bytes of an exported message, in the arena or read by the kernel. They
//     were written before the rendezvous frame that describes them was published,
//     and are read after that frame: the ring's order is theirs.
//   - The end of an export. Its owner adds 1 to the generation and then lets the
//     user write; the receiver loads the bytes and then looks at the generation.
//     If it finds the old one, its loads must have been made before those writes.
//     On amd64 loads are made in their order and stores are seen in theirs, so a
//     plain look will do. On arm64 a load-acquire does not hold earlier loads
//     back. There the look is an addition of 0 (current_other.go): it stores, that
//     store is a release, and the owner's addition to the same word acquires what
//     it finds. In Go's memory model, too, the loads happen before the addition of
//     0, that before the addition of 1, and that before the user's writes.
//
// Within a process all but hear runs under the endpoint's lock; what hear and the
// poller share are atomic pointers and flags.
//
// System calls and unsafe live in internal/: segment (memory), ring (frames),
// bell (sleeping), cma (single copy), arena (an allocator of offsets).
package shm
