package exs_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"gomx/exs"
)

// serve accepts connections, and has a goroutine of its own serve each. It returns when the listener is closed.
func serve(ln net.Listener, f func(c net.Conn)) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			f(c)
		}()
	}
}

// sendBack sends back what it gets.
func sendBack(c net.Conn) { _, _ = io.Copy(c, c) }

// A server and a client are those of package net, with another Listen and Dial.
func Example() {
	ln, err := exs.Listen("exs", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ln.Close()
	go serve(ln, sendBack)

	c, err := exs.Dial("exs", ln.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	if _, err = c.Write([]byte("hello")); err != nil {
		fmt.Println(err)
		return
	}
	answer := make([]byte, 5)
	if _, err = io.ReadFull(c, answer); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", answer)
	// Output: hello
}

// A Dialer has the options of a dial. This one gives up after five seconds, holds up to 4 MiB that the peer has sent ahead, and its connections never sleep
// while they wait.
func ExampleDialer() {
	ln, err := exs.Listen("exs", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ln.Close()
	go serve(ln, sendBack)

	d := &exs.Dialer{Timeout: 5 * time.Second, StreamBuffer: 4 << 20, BusyPoll: true}
	c, err := d.Dial("exs", ln.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	fmt.Fprintln(c, "hello")
	var answer string
	fmt.Fscan(c, &answer)
	fmt.Println(answer)
	// Output: hello
}

// The error of a dial matches its number, and says in one line what to do about it.
func ExampleDialer_errors() {
	_, err := exs.Dial("exs", "127.0.0.1:1")
	fmt.Println(err)
	fmt.Println("nobody listens:", errors.Is(err, syscall.ECONNREFUSED))

	mail, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mail.Close()
	go serve(mail, func(c net.Conn) { fmt.Fprint(c, "220 mail.example.com ESMTP\r\n") })
	_, err = exs.Dial("exs", mail.Addr().String())
	e, _ := errors.AsType[*net.OpError](err)
	fmt.Println(e.Err)
	// Output:
	// dial exs 127.0.0.1:1: connection refused: nobody listens there; start the server first, or check the port
	// nobody listens: true
	// the other side is not an exs listener: it began with "220 mail"; check the port, or use exs on both sides
}

// A SeqPacketConn keeps messages apart: one Write is one Read.
func ExampleSeqPacketConn() {
	ln, err := exs.Listen("exspacket", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ln.Close()
	go serve(ln, func(c net.Conn) {
		for _, message := range []string{"one", "two", "a long one"} {
			fmt.Fprint(c, message)
		}
	})

	c, err := exs.Dial("exspacket", ln.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	b := make([]byte, 6)
	for {
		n, lost, err := c.(*exs.SeqPacketConn).ReadPacket(b)
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%q, and %d bytes that had no room\n", b[:n], lost)
	}
	// Output:
	// "one", and 0 bytes that had no room
	// "two", and 0 bytes that had no room
	// "a long", and 4 bytes that had no room
}
