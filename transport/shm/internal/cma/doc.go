// Package cma copies between the memories of two processes of one host in a
// single step, with process_vm_readv and process_vm_writev. Linux only;
// elsewhere the package is empty.
//
// The rules it relies on:
//
//   - The caller keeps the memory that AppendDescriptor described alive and in place
//     until the peer is done with it. Go's collector doesn't move the heap, and
//     AppendDescriptor sees to it that its argument is not on a goroutine's stack, which
//     does move. To the collector a memory descriptor is only numbers.
//   - Nothing is mapped, so nothing is to be unmapped. Memory descriptors cross
//     processes; addresses in them mean something only to their owner. We never
//     make a pointer of one: they only go back to the kernel, which checks them.
//   - A memory descriptor from a peer is checked by ParseDescriptor before use. If its
//     addresses lie, the copy fails or brings other bytes of that peer's memory;
//     it can't touch ours beside the destination.
//   - A process number may be given to another process once its owner has died.
//     The caller holds a socket or a pidfd, which shows that the owner has ended, and
//     looks at it after the copy, before it accepts the bytes. Probe shows at the
//     beginning that the number means the same process to both.
//
// Memory order: the kernel copies on the core that asks, so its loads lie where the
// system call lies in the caller's program, after what the caller has loaded before.
// Entering and leaving the kernel orders nothing by itself: to know that the bytes
// were read before something that it loads later, the caller needs a load that does
// not let earlier ones pass (transport/shm/doc.go).
//
// A Scratch holds the vectors for the kernel, so that copying allocates nothing
// once they have grown. Read scratch.go first, then descriptor.go.
package cma
