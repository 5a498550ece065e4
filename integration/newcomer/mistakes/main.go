// Command mistakes makes one of the mistakes that docs/errors.md lists, as a new user would, and prints what the library
// says of it.
//
//	mistakes filter
package main

import (
	"errors"
	"log"
	"net"
	"os"
	"time"

	"gomx/exs"
	"gomx/mpi"
	"gomx/mx"
)

const filter, patience = 0xcafe, 10 * time.Second

var mistakes = map[string]func() error{
	"filter":  wrongFilter,
	"host":    wrongHost,
	"id":      wrongEndpoint,
	"range":   idOutOfRange,
	"taken":   takenID,
	"board":   portForABoard,
	"server":  otherServer,
	"listen":  takenPort,
	"counts":  ranks(differentCounts),
	"alike":   ranks(wrongAtAll),
	"port":    wrongPort,
	"rank":    ranks(wrongRank),
	"size":    ranks(wrongSize),
	"type":    ranks(wrongType),
	"buffer":  ranks(smallBuffer),
	"init":    missingInit,
	"wait":    ranks(missingWait),
	"promise": brokenPromise,
	"mpirun":  ranks(func(*mpi.Comm) error { return nil }),
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 || mistakes[os.Args[1]] == nil {
		log.Fatal("mistakes: name one of the mistakes")
	}
	if err := mistakes[os.Args[1]](); err != nil {
		log.Fatal(err)
	}
}

// ranks is a program of package mpi that makes a mistake.
func ranks(f func(world *mpi.Comm) error, opts ...mpi.Option) func() error {
	return func() error {
		mpi.Main(f, opts...)
		return nil
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func wrongFilter() error {
	if err := mx.Init(); err != nil {
		return err
	}
	a, b := must(mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter)), must(mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter+1))
	nic, id, err := mx.DecomposeEndpointAddr(b.Addr())
	if err != nil {
		return err
	}
	_, err = a.Connect(nic, id, filter, patience)
	return err
}

func wrongHost() error {
	if err := mx.Init(); err != nil {
		return err
	}
	_, err := mx.HostnameToNICID("no-such-host.invalid")
	return err
}

func wrongEndpoint() error {
	if err := mx.Init(); err != nil {
		return err
	}
	a := must(mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter))
	_, err := a.Connect(must(mx.HostnameToNICID("localhost")), 4000, filter, patience)
	return err
}

func wrongPort() error {
	if err := exs.Init(exs.Version1); err != nil {
		return err
	}
	_, err := exs.Dial("exs", "localhost:1")
	return err
}

func idOutOfRange() error {
	if err := mx.Init(); err != nil {
		return err
	}
	a := must(mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter))
	_, err := a.Connect(must(mx.HostnameToNICID("localhost")), 5000, filter, patience)
	return err
}

func takenID() error {
	if err := mx.Init(); err != nil {
		return err
	}
	a := must(mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter))
	_, err := mx.OpenEndpoint(mx.AnyNIC, a.ID(), filter)
	return err
}

func portForABoard() error {
	if err := mx.Init(); err != nil {
		return err
	}
	_, err := mx.HostnameToNICID("localhost:5000")
	return err
}

// otherServer dials a program that greets its clients, as mail servers do.
func otherServer() error {
	if err := exs.Init(exs.Version1); err != nil {
		return err
	}
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	go func() {
		c := must(l.Accept())
		must(c.Write([]byte("220 mail.example.com ESMTP\r\n")))
	}()
	_, err := exs.Dial("exs", l.Addr().String())
	return err
}

func takenPort() error {
	if err := exs.Init(exs.Version1); err != nil {
		return err
	}
	_, err := exs.Listen("exs", must(net.Listen("tcp", "127.0.0.1:0")).Addr().String())
	return err
}

func differentCounts(world *mpi.Comm) error {
	return mpi.Bcast(world, make([]int, 2+world.Rank()), 0)
}

func wrongAtAll(world *mpi.Comm) error {
	return mpi.Send(world, []int{1}, world.Size(), 7)
}

func wrongRank(world *mpi.Comm) error {
	if world.Rank() > 0 {
		return nil
	}
	return mpi.Send(world, []int{1}, world.Size(), 7)
}

func wrongSize(world *mpi.Comm) error {
	if world.Rank() == 0 {
		return mpi.Send(world, []int32{1, 2, 3}, 1, 7)
	}
	_, err := mpi.Recv(world, make([]int64, 3), 0, 7)
	return err
}

// wrongType shows with MX_CHECK=1 only: the sizes agree.
func wrongType(world *mpi.Comm) error {
	if world.Rank() == 0 {
		return mpi.Send(world, []int64{1}, 1, 7)
	}
	_, err := mpi.Recv(world, make([]float64, 1), 0, 7)
	return err
}

func smallBuffer(world *mpi.Comm) error {
	if world.Rank() == 0 {
		return mpi.Send(world, []int{1, 2, 3}, 1, 7)
	}
	_, err := mpi.Recv(world, make([]int, 2), 0, 7)
	return err
}

func missingInit() error {
	_, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter)
	return err
}

func missingWait(world *mpi.Comm) error {
	_, err := mpi.Irecv(world, make([]int, 1), (world.Rank()+1)%world.Size(), 7)
	return err
}

// brokenPromise calls an endpoint from two goroutines, though it was opened for one at a time. Each pair of calls shows
// it only if they overlap, so it makes many.
func brokenPromise() error {
	if err := mx.Init(); err != nil {
		return err
	}
	ep := must(mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter, mx.SingleThreaded()))
	until := time.Now().Add(time.Minute)
	probe := func() {
		for time.Now().Before(until) {
			if _, _, err := ep.Iprobe(7, mx.MatchMaskNone); err != nil {
				log.Fatal(err)
			}
		}
	}
	go probe()
	probe()
	return errors.New("the calls never overlapped")
}
