// Command mpi_depth shows what deep queues cost: a message to and fro behind receives that match nothing, or the
// receiving of messages that came before their receives, newest first.
package main

import (
	"flag"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/stamp"
	"gomx/mpi"
)

const length = 8

// firstTag is that of the first of many messages; 1 is that of the ping-pong.
const firstTag = 2

func main() {
	posted := flag.Int("posted", 0, "receives that match nothing while messages go to and fro")
	unexpected := flag.Int("unexpected", 0, "messages that come before their receives")
	count := flag.Int("count", 1000, "round trips")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error {
		if *unexpected > 0 {
			return late(world, *unexpected)
		}
		return behind(world, *posted, *count)
	})
}

// behind measures half round trips while receives lie there. In the end their messages come.
func behind(world *mpi.Comm, posted, count int) error {
	peer, bufs, reqs := 1-world.Rank(), make([][length]byte, posted), make([]mpi.Request, posted)
	for i := range reqs {
		var err error
		if reqs[i], err = mpi.Irecv(world, bufs[i][:], peer, firstTag+i); err != nil {
			return err
		}
	}
	if err := rounds(world, count/10+1); err != nil {
		return err
	}
	m := figure.Begin()
	if err := rounds(world, count); err != nil {
		return err
	}
	if world.Rank() == 0 {
		m.Each(2 * count)
	} else {
		m.Aside()
	}
	buf := make([]byte, length)
	for i := range posted {
		stamp.Put(buf, i)
		if err := mpi.Send(world, buf, peer, firstTag+i); err != nil {
			return err
		}
	}
	if err := mpi.WaitAll(reqs, nil); err != nil {
		return err
	}
	for i := range bufs {
		if err := stamp.Check(bufs[i][:], i); err != nil {
			return err
		}
	}
	return nil
}

func rounds(world *mpi.Comm, count int) error {
	buf, rank := make([]byte, length), world.Rank()
	for i := range 2 * count {
		if i%2 == rank {
			stamp.Put(buf, i)
			if err := mpi.Send(world, buf, 1-rank, 1); err != nil {
				return err
			}
			continue
		}
		if _, err := mpi.Recv(world, buf, 1-rank, 1); err != nil {
			return err
		}
		if err := stamp.Check(buf, i); err != nil {
			return err
		}
	}
	return nil
}

// sendAll waits for none of the messages until all have been sent: the receiver need not have memory for all.
func sendAll(world *mpi.Comm, count int) error {
	bufs, reqs := make([][length]byte, count), make([]mpi.Request, count)
	m := figure.Begin()
	for i := range bufs {
		stamp.Put(bufs[i][:], i)
		var err error
		if reqs[i], err = mpi.Isend(world, bufs[i][:], 0, firstTag+i); err != nil {
			return err
		}
	}
	if err := mpi.WaitAll(reqs, nil); err != nil {
		return err
	}
	m.Aside()
	return world.Barrier()
}

// late has rank 1 send messages of a tag each. When all have come, rank 0 receives them, the newest first.
func late(world *mpi.Comm, count int) error {
	if world.Rank() == 1 {
		return sendAll(world, count)
	}
	buf := make([]byte, length)
	// The message with the last tag is received first, and then all others lie there.
	var m figure.Meter
	for i := count - 1; i >= 0; i-- {
		if _, err := mpi.Recv(world, buf, 1, firstTag+i); err != nil {
			return err
		}
		if err := stamp.Check(buf, i); err != nil {
			return err
		}
		if i == count-1 {
			m = figure.Begin()
		}
	}
	m.Each(max(1, count-1))
	return world.Barrier()
}
