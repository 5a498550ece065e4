// Package driver runs one endpoint: it owns the engine, the ports and the lock,
// polls, waits, sleeps, and keeps the protocol going when nobody waits.
//
// The goroutine that holds the lock may make a pass over the ports. The exception is while a handler runs: handlers run in the
// middle of a pass, without the lock. Callers that wait and the endpoint's own goroutine share one polling loop (spin in
// poll.go). Even under a steady flow of messages it reads the clock every few polls, for deadlines and the engine's timers. At
// each poll it checks whether another goroutine wants the lock, and whether a wait was given up (lock.go). While operations wait
// for counters, one goroutine may poll for several endpoints in another loop (progress_group.go). A wait that may be short makes
// some passes before it is made one of those that wait (passFor in wait.go): the way through the polling role takes a fifth of a
// hop of 8 B.
//
// One goroutine at a time has the polling role: it must poll, and it may sleep on the endpoint's doorbell. While a single
// goroutine uses the endpoint, that goroutine has the role when it waits. It spins while that is likely to pay and a core is
// free (spin.go), and then sleeps in the kernel. As soon as another goroutine calls while one waits, callers park
// (park.go), and the endpoint's own goroutine has the role. It sleeps in Go's network poller, so that waking a parked caller
// costs neither a system call nor a thread. It also takes the role when no pass was made for a few milliseconds, so that a
// program that computes for a minute does not stall its peers (background.go).
//
// An Endpoint may be used from any number of goroutines. In single-threaded mode it may be used by one goroutine at a time,
// except for the calls that Config.SingleThreaded names.
package driver
