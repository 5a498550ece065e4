// Command troubles gets into one of the troubles that docs/troubleshooting.md describes, and prints what the library says
// of it.
//
//	troubles hang
package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"time"

	"gomx/mpi"
	"gomx/mx"
)

const filter, patience = 0xcafe, 10 * time.Second

var troubles = map[string]func() error{
	"hang":      hang,
	"slow":      slow,
	"interface": mx.Init,
	"firewall":  firewall,
	"store":     store,
	"cores":     cores,
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 || troubles[os.Args[1]] == nil {
		log.Fatal("troubles: name one of the troubles")
	}
	if err := troubles[os.Args[1]](); err != nil {
		log.Fatal(err)
	}
}

// hang has two ranks receive from each other what neither sends.
func hang() error {
	mpi.Main(func(world *mpi.Comm) error {
		var n [1]int64
		_, err := mpi.Recv(world, n[:], 1-world.Rank(), 7)
		return err
	})
	return nil
}

// pair opens two endpoints, the second with an id and options, and connects the first to it.
func pair(id uint32, options ...mx.Param) (a, b *mx.Endpoint, to mx.EndpointAddr, err error) {
	if err = mx.Init(); err != nil {
		return
	}
	if a, err = mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter); err != nil {
		return
	}
	if b, err = mx.OpenEndpoint(mx.AnyNIC, id, filter, options...); err != nil {
		return
	}
	nic, id, err := mx.DecomposeEndpointAddr(b.Addr())
	if err != nil {
		return
	}
	to, err = a.Connect(nic, id, filter, patience)
	return
}

// slow has a peer that uses TCP alone. Its id is one that nobody else has over shared memory.
func slow() error {
	a, _, _, err := pair(3000+uint32(os.Getpid())%1000, mx.WithTransports("tcp"))
	if err != nil {
		return err
	}
	p := a.Peers()[0]
	fmt.Printf("over %s; not over a preferred transport: %s\n", p.Transport, p.Instead)
	return nil
}

// firewall connects to an endpoint of this host whose port answers nothing; its number follows.
func firewall() error {
	id, err := strconv.ParseUint(os.Args[2], 10, 32)
	if err != nil {
		return err
	}
	if err := mx.Init(); err != nil {
		return err
	}
	ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter, mx.WithTransports("tcp"))
	if err != nil {
		return err
	}
	nic, err := mx.HostnameToNICID("localhost")
	if err != nil {
		return err
	}
	_, err = ep.Connect(nic, uint32(id), filter, patience)
	return err
}

// store sends more than the receiver, which receives nothing, can buffer, and prints what most sends wait for.
func store() error {
	a, _, to, err := pair(mx.AnyEndpoint)
	if err != nil {
		return err
	}
	const messages = 1 << 14
	for i := range messages {
		if _, err := a.Isend(make([]byte, 4000), to, uint64(i), nil); err != nil {
			return err
		}
	}
	waiting := map[string]int{}
	most := ""
	for _, p := range a.Pending() {
		if waiting[p.Stage]++; waiting[p.Stage] > waiting[most] {
			most = p.Stage
		}
	}
	fmt.Printf("send, 4000 bytes: %s\n", most)
	return nil
}

// cores has a barrier of more ranks than there are cores, again and again, beside processes that compute, until most of the time of
// rank 0 goes by in waits that prove long. Then it prints the counters of its endpoint.
func cores() error {
	for range 2 * runtime.NumCPU() {
		end, err := compute()
		if err != nil {
			return err
		}
		defer end()
	}
	return mpi.Run(2*runtime.NumCPU(), func(world *mpi.Comm) error {
		for began := time.Now(); ; {
			if busy, err := mostlyWaits(world); err != nil || busy {
				return err
			}
			if time.Since(began) > patience {
				return errors.New("the time does not go by in waits that prove long")
			}
		}
	})
}

// mostlyWaits makes some barriers, and reports whether rank 0 has spent most of the time in waits that proved long. It prints its counters if
// so.
func mostlyWaits(world *mpi.Comm) (bool, error) {
	began, before := time.Now(), waited()
	for range 500 {
		if err := world.Barrier(); err != nil {
			return false, err
		}
	}
	busy := []bool{waited()-before > time.Since(began)/2}
	if err := mpi.Bcast(world, busy, 0); err != nil {
		return false, err
	}
	if busy[0] && world.Rank() == 0 {
		for _, c := range mx.Snapshot().Endpoints[0].Counters {
			fmt.Printf("%s: %d\n", c.Label, c.Value)
		}
	}
	return busy[0], nil
}

// waited is the time that the first endpoint has spent in waits that proved long.
func waited() time.Duration {
	counters := mx.Snapshot().Endpoints[0].Counters
	i := slices.IndexFunc(counters, func(c mx.Counter) bool { return c.Name == "wait_nanoseconds" })
	return time.Duration(counters[i].Value)
}

// compute starts a process that keeps a core busy until end is called, or for half a minute at most.
func compute() (end func(), err error) {
	c := exec.Command("sh", "-c", "n=0; while [ $n -lt 30000000 ]; do n=$((n+1)); done")
	if err := c.Start(); err != nil {
		return nil, err
	}
	return func() { _ = c.Process.Kill(); _ = c.Wait() }, nil
}
