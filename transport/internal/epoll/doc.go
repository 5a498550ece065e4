// Package epoll tells what has happened on many descriptors with one call that
// does not wait. Linux only; elsewhere the package is empty.
//
// The rules it relies on:
//
//   - A Set owns its own descriptor alone. Those that are added belong to the caller,
//     who closes them; one that is closed has left the Set, if there is no copy of it.
//   - Each change is reported once: whoever learns that something can be read reads
//     until nothing is left.
//   - The system writes events into memory of the Set, and keeps no address of it
//     after the call, which is a raw one: it never waits, so the scheduler need not know.
//   - A Pending hands its descriptor to Go's network poller, which takes one of epoll like any other. From then on the
//     file that it is in closes it, and not before the last Take.
package epoll
