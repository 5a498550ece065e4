// Command compare measures programs as users write them: as the documentation teaches, built with "go build" and
// nothing else, with default options, each beside its counterpart.
//
//	go run ./bench/compare
//	go run ./bench/compare -against ../older
//
// Each program lies in a folder of its own below bench/ordinary, and is small enough to read first. Those of package
// mpi stand beside the same program in C (bench/ordinary/peers) on the MPIs of this machine, those of package exs
// beside themselves over TCP and over Unix sockets. A ping-pong also stands beside what the medium gives to a program
// without any library (bench/ordinary/bare_pingpong). With -against the programs are built inside another checkout of
// the module as well, so that two versions of gomx run in turn; they therefore keep to calls that both versions have.
//
// Absolute times drift from machine to machine and from minute to minute. In each round every subject of a row
// therefore runs once, one after the other, and the figure is the median of the rounds. Beside it stands the processor
// time of all processes of the run while it was measured, for each operation. Two ranks, and the processes of package
// mx, are bound to a core each, as the launchers of MPIs do; with -free they are not. More ranks than cores, and what
// uses sockets, are never bound.
//
// Without -only one row or two of each program are measured; -only chooses among all of them, which has messages and
// collectives of several sizes among several numbers of ranks. With -over tcp or rdma gomx and the MPIs are told to use
// nothing else, and it is checked that the bytes went that way; with -busy a process that computes runs beside them for
// each core. Over RDMA the programs of perftest measure the verbs themselves;
// "go run ./integration/rdmavm -compare" runs that where there is no device.
//
// What is not installed is named and left out. What fails, or does not end in time, is named as well and not tried
// again, and the exit status is 1.
//
// Where to read next: rows.go, rows_mpi.go and rows_exs.go say what is measured, bench/internal/turns beside what and how.
package main
