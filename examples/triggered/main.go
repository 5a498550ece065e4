// Command triggered runs a broadcast and barriers among eight endpoints whose program takes no part in them: it prepares
// operations that begin when a completion counter comes to a number (mx.Trigger), starts the first, and makes no call of the
// library until all is over.
//
//	triggered                                      all endpoints in this process
//	triggered -part 0 -of 2, triggered -part 1 -of 2    in two processes of this host
//
// With -wait the program starts each barrier and waits for it by itself, as it would with one of package mpi.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"gomx/mx"
)

const (
	filter   = 0x7216 // the same in all processes
	size     = 8      // endpoints
	patience = 20 * time.Second
)

type options struct {
	part, of, base int
	barriers       int
	bytes          int
	wait, timed    bool
}

func main() {
	var o options
	flag.IntVar(&o.part, "part", 0, "`which` of the processes this is, from 0 on")
	flag.IntVar(&o.of, "of", 1, "how `many` processes there are: 1, 2, 4 or 8")
	flag.IntVar(&o.base, "base", 3200, "the first endpoint `id`")
	flag.IntVar(&o.barriers, "n", 100, "how `many` barriers")
	flag.IntVar(&o.bytes, "bytes", 100_000, "of the broadcast, `bytes`")
	flag.BoolVar(&o.wait, "wait", false, "start each barrier, and wait for it")
	flag.BoolVar(&o.timed, "time", false, "print how long a barrier takes: with -wait with its preparation, otherwise without")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "triggered:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	if o.of < 1 || size%o.of != 0 || o.part < 0 || o.part >= o.of || o.barriers < 1 || o.bytes < 0 {
		return errors.New("no such part, or nothing to do")
	}
	if err := mx.Init(); err != nil {
		return err
	}
	defer mx.Finalize()
	members, err := open(&o)
	defer func() {
		for _, m := range members {
			m.ep.Close()
		}
	}()
	if err != nil {
		return err
	}
	buf := make([][]byte, len(members))
	if err := each(members, func(i int, m *member) (err error) {
		buf[i], err = m.broadcast(o.bytes)
		return err
	}); err != nil {
		return err
	}
	for _, b := range buf {
		if !bytes.Equal(b, pattern(o.bytes)) {
			return errors.New("the broadcast has brought the wrong bytes")
		}
	}
	took := make([]time.Duration, len(members))
	if o.wait {
		took[0], err = barriers(members, o.barriers)
	} else {
		err = each(members, func(i int, m *member) (err error) {
			took[i], err = m.chain(o.barriers)
			return err
		})
	}
	if err != nil {
		return err
	}
	fmt.Printf("%d endpoints have had a broadcast of %d bytes, and %d barriers\n", len(members), o.bytes, o.barriers)
	if o.timed {
		fmt.Printf("%.2f us a barrier\n", float64(slices.Max(took).Nanoseconds())/1000/float64(o.barriers))
	}
	return nil
}

// member is one of the endpoints.
type member struct {
	ep   *mx.Endpoint
	rank int
	to   [size]mx.EndpointAddr // by rank, of those that it sends to
}

// open opens the endpoints of this process, and connects them with those that they send to.
func open(o *options) (members []*member, err error) {
	here := size / o.of
	for rank := o.part * here; rank < (o.part+1)*here; rank++ {
		ep, err := mx.OpenEndpoint(0, uint32(o.base+rank), filter)
		if err != nil {
			return members, err
		}
		members = append(members, &member{ep: ep, rank: rank})
	}
	nic, err := mx.BoardNumberToNICID(0)
	if err != nil {
		return members, err
	}
	return members, each(members, func(_ int, m *member) error {
		for step := 1; step < size; step *= 2 {
			rank := (m.rank + step) % size
			for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) { // the other process may not be there yet
				to, err := m.ep.Connect(nic, uint32(o.base+rank), filter, patience)
				if m.to[rank] = to; err == nil {
					break
				}
				if !errors.Is(err, mx.ErrConnectionFailed) || time.Since(begin) > patience {
					return err
				}
			}
		}
		return nil
	})
}

// each calls f for all members at once.
func each(members []*member, f func(i int, m *member) error) error {
	errs := make([]error, len(members))
	var all sync.WaitGroup
	for i, m := range members {
		all.Go(func() { errs[i] = f(i, m) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * i)
	}
	return b
}
