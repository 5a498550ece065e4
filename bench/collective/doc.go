// Command collective measures how long collectives of package mpi take, and half a round trip
// between ranks 0 and 1 beside them. It is started as the ranks of a job:
//
//	go build -o collective ./bench/collective
//	go run ./cmd/mx_run -n 4 ./collective -calls barrier:0,allreduce:8,allreduce:4096
//
// Rank 0 prints a JSON object a line for each call. A batch is a barrier, and then calls one after
// the other; it has taken as long as it took the rank that took longest. The figures are over
// batches. bench/compare/mpi/collective.c measures other MPIs in the same way.
package main
