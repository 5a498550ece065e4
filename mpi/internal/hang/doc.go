// Package hang finds out why a job stands still. It takes what every rank waits for,
// and returns groups of ranks that wait for the same, cycles, and the ranks that all
// others wait for. It has no input, output, time and concurrency: package mpi collects
// the snapshot, and prints what comes of it.
//
// The rules. A rank that waits in several goroutines is stuck if each of them is. A
// call that needs all of its requests is stuck if one of them is, a call that needs
// any of them if all are. A request with a peer is stuck if the peer is stuck or gone
// and has nothing on its way that fits. A collective is stuck if a rank that has
// not come to it is; a lock, if one that holds it is. The stuck ranks are the largest
// set for which this holds, so that one rank that is in no call frees everybody who waits
// for it, through any number of others.
//
// What is stuck without a receive from anybody (AnySource), and without a call that a
// context may end, is certain. What needs such is possible: a rank may hear from somebody
// whom nobody thinks of, and go on when its context ends.
//
// Read snapshot.go, then stuck.go.
package hang
