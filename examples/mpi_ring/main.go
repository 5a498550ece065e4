// Command mpi_ring passes messages around a ring of ranks: first one token, to which
// each rank adds its number, and then a block of each rank, all at once.
//
//	go run ./examples/mpi_ring                          alone
//	go run ./cmd/mx_run -n 4 ./examples/mpi_ring        four processes on this host
//	go build ./examples/mpi_ring && mpiexec.hydra -n 4 ./mpi_ring
//	go build ./examples/mpi_ring && srun --mpi=pmi2 -n 4 ./mpi_ring
//
// It shows Send, Recv, Sendrecv and SendrecvReplace, and why the last two are there: where all ranks send first and
// receive then, nobody may be there to take what they send.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"gomx/examples/internal/positive"
	"gomx/mpi"
)

// Tags tell messages of different kinds apart.
const (
	tokenTag = 1
	blockTag = 2
)

func main() {
	laps := positive.Flag("laps", 1000, "how often the token goes round")
	length := positive.Flag("length", 1<<16, "numbers in a block")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error { return run(world, *laps, *length, os.Stdout) })
}

func run(world *mpi.Comm, laps, length int, w io.Writer) error {
	r := ring{world: world, next: (world.Rank() + 1) % world.Size(), previous: (world.Rank() + world.Size() - 1) % world.Size()}
	token, hop, err := r.passToken(laps)
	if err != nil {
		return err
	}
	if err := r.turnBlocks(length); err != nil {
		return err
	}
	if world.Rank() != 0 {
		return nil
	}
	_, err = fmt.Fprintf(w, "the token is %d after %d laps of %d ranks\nall blocks have come home\n%.2f µs from rank to rank\n",
		token, laps, world.Size(), hop*1e6)
	return err
}

// ring is a rank with its neighbours.
type ring struct {
	world          *mpi.Comm
	next, previous int
}

// passToken passes a number around, to which all add their rank. It returns the number and the
// time from one rank to the next, in seconds.
func (r ring) passToken(laps int) (token int, hop float64, err error) {
	buf := []int{0}
	started := mpi.Wtime()
	for range laps {
		if r.world.Rank() == 0 { // the token starts here, and comes back; with one rank to the same
			_, err = mpi.SendrecvReplace(r.world, buf, r.next, tokenTag, r.previous, tokenTag)
		} else {
			err = r.passOn(buf)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return buf[0], (mpi.Wtime() - started) / float64(laps*r.world.Size()), nil
}

func (r ring) passOn(buf []int) error {
	if _, err := mpi.Recv(r.world, buf, r.previous, tokenTag); err != nil {
		return err
	}
	buf[0] += r.world.Rank()
	return mpi.Send(r.world, buf, r.next, tokenTag)
}

// turnBlocks has each rank pass on a block as often as there are ranks, so that in the end
// all have their own again.
func (r ring) turnBlocks(length int) error {
	block, incoming := make([]float64, length), make([]float64, length)
	for i := range block {
		block[i] = float64(r.world.Rank())
	}
	for range r.world.Size() {
		if _, err := mpi.Sendrecv(r.world, block, r.next, blockTag, incoming, r.previous, blockTag); err != nil {
			return err
		}
		block, incoming = incoming, block
	}
	for i, x := range block {
		if x != float64(r.world.Rank()) {
			return fmt.Errorf("number %d of the block that came back is %v", i, x)
		}
	}
	return nil
}
