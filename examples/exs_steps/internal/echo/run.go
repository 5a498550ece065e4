package echo

import (
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"

	"gomx/exs"
)

// Main is the program of a step. It does not return.
func Main(step string, listen Listen, client func(server netip.AddrPort) error) {
	at := flag.String("listen", "", "be the server at this address, such as 10.0.0.7:5000")
	to := flag.String("to", "", "be the client of the server at this address")
	flag.Parse()
	if err := play(*at, *to, listen, client); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", step, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func play(here, to string, listen Listen, client func(netip.AddrPort) error) error {
	switch {
	case here != "" && to != "":
		return errors.New("-listen and -to exclude each other")
	case here != "":
		at, err := netip.ParseAddrPort(here)
		if err != nil {
			return err
		}
		return forever(at, listen)
	case to != "":
		at, err := netip.ParseAddrPort(to)
		if err != nil {
			return err
		}
		return lead(at, client)
	}
	return Together(listen, client)
}

func forever(at netip.AddrPort, listen Listen) error {
	s, err := listen(at)
	if err != nil {
		return err
	}
	for {
		conn, hangUp, err := s.Accept()
		if err != nil {
			return errors.Join(err, s.Close())
		}
		if err := serve(conn, hangUp); err != nil {
			fmt.Fprintln(os.Stderr, err) // another client may do better
		}
	}
}

// Together runs a server and a client in this process.
func Together(listen Listen, client func(netip.AddrPort) error) error {
	s, err := listen(netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		return err
	}
	addr, err := s.Addr()
	if err != nil {
		return errors.Join(err, s.Close())
	}
	served := make(chan error, 1)
	go func() {
		conn, hangUp, err := s.Accept()
		if err == nil {
			err = serve(conn, hangUp)
		}
		served <- err
	}()
	if err := lead(addr, client); err != nil {
		return errors.Join(err, s.Close())
	}
	return errors.Join(<-served, s.Close())
}

func lead(server netip.AddrPort, client func(netip.AddrPort) error) error {
	if err := client(server); err != nil {
		return err
	}
	_, err := fmt.Printf("%d messages, %d bytes: all came back as they were sent\n", Messages, total())
	return err
}

// Ended waits for the event of an operation, and returns the error that it ended with.
func Ended(q *exs.Queue) (exs.Event, error) {
	var events [1]exs.Event
	_, err := q.Dequeue(events[:], exs.Infinite)
	if err == nil && events[0].Errno != 0 {
		err = fmt.Errorf("%v: %w", events[0].Type, events[0].Errno)
	}
	return events[0], err
}
