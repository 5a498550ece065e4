// Command hello sends one message from one endpoint to another.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"gomx/mx"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	const filter = 0xcafe // the same on both sides
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := mx.Init(); err != nil {
		return err
	}
	defer mx.Finalize()
	a, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter)
	if err != nil {
		return err
	}
	defer b.Close()
	nic, id, err := mx.DecomposeEndpointAddr(b.Addr()) // or mx.HostnameToNICID("there") and a number
	if err != nil {
		return err
	}
	toB, err := a.ConnectContext(ctx, nic, id, filter)
	if err != nil {
		return err
	}

	buf := make([]byte, 64)
	recv, err := b.Irecv(buf, 42, mx.MatchMaskNone, nil)
	if err != nil {
		return err
	}
	send, err := a.Isend([]byte("hello"), toB, 42, nil)
	if err != nil {
		return err
	}
	if _, err := a.WaitContext(ctx, send); err != nil {
		return err
	}
	st, err := b.WaitContext(ctx, recv)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes, match %d\n", buf[:st.XferLength], st.MsgLength, st.MatchInfo)
	return nil
}
