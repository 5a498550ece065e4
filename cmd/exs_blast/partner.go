package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"gomx/bench/pingpong"
	"gomx/internal/partner"
)

// partnerVariable makes a process of this program the server of another one. It
// holds the cores to be bound to, as JSON.
const partnerVariable = "GOMX_BLAST_PARTNER"

// isPartner reports whether this process is the second one.
func isPartner() bool { return partner.Is(partnerVariable) }

// runPartner is the second process. It ends when the first one has gone.
func runPartner() error {
	var cores []int
	if err := partner.Begin(partnerVariable, &cores); err != nil {
		return err
	}
	if err := pinTo(cores, 1); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return errors.Join(err, l.Close())
	}
	fmt.Println(port)
	return serve(context.Background(), l, os.Stderr)
}

// pinTo binds the process to the core of one side.
func pinTo(cores []int, side int) error {
	if len(cores) <= side {
		return nil
	}
	return pingpong.PinProcess(cores[side])
}
