package exs_test

import (
	"fmt"
	"net/netip"

	"gomx/exs"
)

// Sockets have asynchronous operations: a call starts one, and an event says that it has ended.
func ExampleSocket() {
	if err := exampleSocket(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// accepted
	// received "hello"
}

func exampleSocket() error {
	l, err := exs.Open(exs.Version1)
	if err != nil {
		return err
	}
	defer l.Close()
	listener, err := l.Socket(exs.Inet, exs.SeqPacket, 0)
	if err != nil {
		return err
	}
	if err := listener.Bind(netip.MustParseAddrPort("127.0.0.1:0")); err != nil {
		return err
	}
	if err := listener.Listen(8); err != nil {
		return err
	}
	events, err := l.Queue(8)
	if err != nil {
		return err
	}
	if _, err := listener.Accept(make([]exs.AcceptAddr, 1), 0, events); err != nil {
		return err
	}

	client, err := l.Socket(exs.Inet, exs.SeqPacket, 0)
	if err != nil {
		return err
	}
	addr, err := listener.SockName()
	if err != nil {
		return err
	}
	if err := client.BlockingConnect(addr); err != nil {
		return err
	}
	if _, err := client.BlockingSend([]byte("hello"), 0, exs.Unregistered); err != nil {
		return err
	}

	ended := make([]exs.Event, 1)
	for range 2 {
		if _, err := events.Dequeue(ended, exs.Infinite); err != nil {
			return err
		}
		switch e := ended[0]; e.Type {
		case exs.EvtAccept:
			fmt.Println("accepted")
			if _, err := e.NewSocket.Recv(make([]byte, 64), 0, events, nil, exs.Unregistered); err != nil {
				return err
			}
		case exs.EvtRecv:
			fmt.Printf("received %q\n", e.Buffer[:e.Length])
		}
	}
	return nil
}
