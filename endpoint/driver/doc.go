// Package driver runs one endpoint: it owns the engine, the ports and the lock,
// polls, waits, sleeps, and keeps the protocol going when nobody waits.
//
// Whoever has the lock may make a pass over the ports, unless a handler runs, which it does in the middle of
// a pass and without the lock. Callers that wait make passes in one loop, and so does the endpoint's own goroutine (spin in
// poll.go): however much arrives the loop reads the clock every so many polls, for deadlines and the engine's
// timers, and at each poll it sees who wants the lock and whose wait was given up (lock.go).
//
// One of them has the polling role, which is the right to sleep on the endpoint's doorbell and the duty to poll. While a
// single goroutine has a part in the endpoint, that is the role of the one that waits: it spins while that is likely to
// pay and a core is free (spin.go), and then sleeps in the kernel by itself. As soon as another goroutine calls while one
// waits, callers park on what they wait for (park.go), and the endpoint's own goroutine has the role. It sleeps in Go's network
// poller, so that waking a parked caller costs neither a system call nor a thread. It also takes the role when nobody has made
// a pass for a few milliseconds, so that a program that computes for a minute does not stall its
// peers (background.go).
//
// An Endpoint may be used from any number of goroutines. In single-threaded
// mode it takes calls from one at a time, but for those that Config.SingleThreaded names.
package driver
