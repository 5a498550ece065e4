// Command compare measures gomx beside the MPIs installed on this machine and
// prints medians and ratios.
//
//	go run ./bench/compare
//
// Absolute times drift from machine to machine and from minute to minute, so
// everything is measured in turn: in each round and for each quantity gomx,
// then one peer, then the next, each as two processes pinned to the same two
// cores. The figure of a round is the median over batches of round trips; the
// figure printed is the median over rounds.
//
// gomx is measured with mx_pingpong, which is built for the purpose. An MPI is
// measured with mpi/pingpong.c, which times the same exchanges in the same way
// and prints the same fields; it is compiled with the MPI's own compiler
// wrapper. Both go into a temporary directory that is removed at the end.
//
// An MPI that was started with MPI_Init has no locks, since it is promised one
// thread (MPI_THREAD_SINGLE). gomx is therefore measured with endpoints that are
// promised one goroutine (mx_pingpong -single); small messages over shared memory
// also with endpoints that any goroutine may use, as "gomx, any thread". Ranks are started with
// mpi.ThreadSingle alike, and two of them also without that promise.
//
// Two media are measured unless -media says otherwise: shared memory, and TCP over the loopback interface. Over
// TCP the peers are also a bare socket (internal/socket), and the MPIs are told to
// use nothing but TCP. That they do is checked: as many bytes as the messages have
// must have passed the network interfaces (traffic.go). How gomx stands to what it
// is meant to reach there is printed at the end (bars.go).
//
// With -media rdma it is an RDMA device of this machine, through which both processes talk.
// There the peers are also the programs of perftest (perftest.go), which measure verbs themselves,
// and the MPIs are told to use reliable-connected queue pairs through UCX. On Soft-RoCE, whose packets
// are counted, it is checked that all messages went that way. "go run ./integration/rdmavm -compare" runs
// this where there is no such device.
//
// What is not installed is named and left out. What fails is named as well, its
// places in the tables stay empty, and the exit status is 1.
//
// Where to read next: plan.go says what is measured, measure.go in which order,
// peers.go how another peer would be added.
package main
