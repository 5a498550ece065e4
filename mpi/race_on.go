//go:build race

package mpi

// racing: the race detector is looking.
const racing = true
