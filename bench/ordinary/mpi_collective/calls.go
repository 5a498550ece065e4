package main

import (
	"fmt"

	"gomx/mpi"
)

const root = 0

// buffers hold a block of each rank, of n numbers.
type buffers struct {
	world         *mpi.Comm
	rank, size, n int
	in, out       []int64
}

func newBuffers(world *mpi.Comm, n int) *buffers {
	b := &buffers{world: world, rank: world.Rank(), size: world.Size(), n: n}
	b.in, b.out = make([]int64, b.size*n), make([]int64, b.size*n)
	for i := range b.in {
		b.in[i] = at(b.rank, i/n, i%n)
	}
	return b
}

// at is number i of the block that one rank has for another.
func at(from, to, i int) int64 { return int64(from)<<40 + int64(to)<<32 + int64(i) }

// operation is a collective operation, or nil if there is none of that name.
func (b *buffers) operation(name string) func() error {
	block, result := b.in[:b.n], b.out[:b.n]
	switch name {
	case "barrier":
		return b.world.Barrier
	case "bcast":
		if b.rank == root {
			result = block
		}
		return func() error { return mpi.Bcast(b.world, result, root) }
	case "reduce":
		return func() error { return mpi.Reduce(b.world, block, result, mpi.Sum, root) }
	case "allreduce":
		return func() error { return mpi.Allreduce(b.world, block, result, mpi.Sum) }
	case "alltoall":
		return func() error { return mpi.Alltoall(b.world, b.in, b.out) }
	case "allgather":
		return func() error { return mpi.Allgather(b.world, block, b.out) }
	case "gather":
		return func() error { return mpi.Gather(b.world, block, b.out, root) }
	case "scatter":
		return func() error { return mpi.Scatter(b.world, b.in, result, root) }
	}
	return nil
}

// want is number i of what comes in at this rank, and 0 where nothing does.
func (b *buffers) want(name string, i int) int64 {
	from, k := i/b.n, i%b.n
	switch {
	case name == "alltoall":
		return at(from, b.rank, k)
	case name == "allgather", name == "gather" && b.rank == root:
		return at(from, 0, k)
	case from > 0:
		return 0
	case name == "bcast" && b.rank != root:
		return at(root, 0, k)
	case name == "scatter":
		return at(root, b.rank, k)
	case name == "allreduce", name == "reduce" && b.rank == root:
		return at(b.size*(b.size-1)/2, 0, k*b.size)
	}
	return 0
}

// check does the operation once more, into memory that is clear, and looks at what has come in.
func (b *buffers) check(name string) error {
	clear(b.out)
	if err := b.operation(name)(); err != nil {
		return err
	}
	for i, got := range b.out {
		if want := b.want(name, i); got != want {
			return fmt.Errorf("rank %d: number %d after %s is %d, not %d", b.rank, i, name, got, want)
		}
	}
	return nil
}
