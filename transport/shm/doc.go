// Package shm is the medium between processes of one host: a ring in shared
// memory each way, and for large messages whichever way of copying is quickest.
//
// Endpoints meet on an abstract unix socket named after board and endpoint id.
// Binding it claims the id; the kernel tells each side who the other is, and
// only the same user is welcome. The memory and the doorbells cross the socket
// as descriptors: nothing has a name in the file system, so nothing is ever left
// behind. The end of the socket is the peer's death notice.
//
// A pair of endpoints shares one segment with two rings. Large messages are copied
// once, by the receiver, out of the peer's arena if the sender's memory came from
// Alloc, or with process_vm_readv; or twice, by blocks through the ring, which
// keeps two cores busy at once and is often quicker. Each link measures which
// (choose.go). A copy stops after each MiB until the next Poll, so that other
// peers and the endpoint's timers get their turn. Whether a peer can be read is proven at connect by reading a nonce
// of it; where it can't, or ever fails, the ring serves.
//
// The files: transport.go claims, accept.go and dial.go meet, hello.go is what
// they say, link.go and poll.go move frames, expose.go, pull.go and choose.go copy
// large messages, arena.go is Alloc and Free, death.go watches for the end.
//
// System calls and unsafe live in internal/: segment (memory), ring (frames),
// bell (sleeping), cma (single copy), arena (an allocator of offsets).
package shm
