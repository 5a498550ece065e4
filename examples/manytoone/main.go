// Command manytoone has many processes send numbers to one, which adds them up.
//
//	manytoone -senders 2     on one host: the collector
//	manytoone -to HOST       on others: the senders, two in this case
//	manytoone                all of it in one process
//
// It shows receives that take messages of any sender, some posted ahead, and how
// match information tells kinds of messages apart.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"gomx/examples/internal/positive"
	"gomx/mx"
)

const (
	filter    = 0x3271 // the same on all sides
	collector = 7      // its endpoint id
	window    = 64     // requests under way at a time
	patience  = 10 * time.Second
)

func main() {
	senders := positive.Flag("senders", 0, "collect from this many senders")
	host := flag.String("to", "", "send to the collector on this host")
	count := positive.Flag("n", 10_000, "how many numbers to send")
	flag.Parse()
	if err := run(*senders, *host, *count); err != nil {
		fmt.Fprintln(os.Stderr, "manytoone:", err)
		os.Exit(1)
	}
}

func run(senders int, host string, count int) error {
	if err := mx.Init(); err != nil {
		return err
	}
	defer mx.Finalize()
	switch {
	case host != "":
		return sendTo(host, count)
	case senders > 0:
		return serve(senders)
	}
	return alone(3, count)
}

func serve(senders int) error {
	ep, err := mx.OpenEndpoint(0, collector, filter)
	if err != nil {
		return err
	}
	defer ep.Close()
	fmt.Printf("collecting on %v\n", ep)
	return collect(ep, senders)
}

// sendTo sends to a collector, which need not be there yet.
func sendTo(host string, count int) error {
	nic, err := mx.HostnameToNICID(host)
	if err != nil {
		return err
	}
	ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, filter)
	if err != nil {
		return err
	}
	defer ep.Close()
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		to, err := ep.Connect(nic, collector, filter, patience)
		if err == nil {
			return send(ep, to, count)
		}
		if !errors.Is(err, mx.ErrConnectionFailed) || time.Since(begin) > patience {
			return err
		}
	}
}

// alone runs a collector and some senders in this process.
func alone(senders, count int) error {
	ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, filter)
	if err != nil {
		return err
	}
	defer ep.Close()
	nic, id, err := mx.DecomposeEndpointAddr(ep.Addr())
	if err != nil {
		return err
	}
	ended := make(chan error, senders)
	for range senders {
		go func() {
			from, err := mx.OpenEndpoint(0, mx.AnyEndpoint, filter)
			if err == nil {
				defer from.Close()
				var to mx.EndpointAddr
				if to, err = from.Connect(nic, id, filter, patience); err == nil {
					err = send(from, to, count)
				}
			}
			ended <- err
		}()
	}
	if err := collect(ep, senders); err != nil {
		return err
	}
	for range senders {
		if err := <-ended; err != nil {
			return err
		}
	}
	return nil
}
