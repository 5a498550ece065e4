// Package driver runs one endpoint: it owns the engine, the ports and the lock,
// polls, waits, sleeps, and keeps the protocol going when nobody waits.
//
// Callers make progress themselves. One of them has the polling role: it polls
// with the lock held, and lets others have the lock when they ask for it (gate.go).
// Whoever must wait meanwhile is parked on what it waits for, and is woken by the
// poller; a poller that leaves hands the role to one that is parked (park.go).
//
// The poller spins while that is likely to pay and a core is free, and then
// sleeps on the endpoint's doorbell (poll.go, spin.go). When the endpoint has not
// been called for a few milliseconds, a goroutine takes the role and sleeps on
// the doorbell, so that a program that computes for a minute does not stall its
// peers (background.go).
//
// An Endpoint may be used from any number of goroutines. One of a lone caller takes
// calls from one at a time, but for those that Config.Lone names.
package driver
