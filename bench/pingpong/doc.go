// Package pingpong measures how long messages take between two endpoints. It is
// what mx_pingpong measures with.
//
// One side leads: it sends, waits for the answer and holds the clock. The other
// follows, and does what the leader's orders say. The sides are two processes on
// this host (Run starts the second one itself), two goroutines of one process,
// a process that was started as a receiver (Serve), or one endpoint that writes
// to itself.
//
// Time is taken over batches of round trips, so that reading the clock does not
// show in it. A side sends from and receives into the same buffer. The loops
// that are timed allocate nothing.
//
// # Match values
//
// The leader's parameters come with 0x0000222211110000, and all later orders and
// answers with one more. Messages that are timed have 0x1000 on their way out
// and 0 on their way back. What lies in the queues on purpose has values of its
// own above 1<<62.
//
// # Files
//
// run.go chooses who measures with whom; plan.go says what; measure.go takes
// the times, with batches.go; lead.go, follow.go and solo.go are the parts that
// can be played, side.go is what they share, plain.go and special.go hold the loops
// that are timed, and queues.go what lies in the way of the messages. order.go is what leader and follower say to each other.
// partner.go is the second process, cores.go where things run, pattern.go the
// check of the contents.
package pingpong
