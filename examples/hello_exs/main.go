// Command hello_exs sends a line over a net.Conn that is an extended socket.
package main

import (
	"bufio"
	"fmt"
	"log"

	"gomx/exs"
)

func main() {
	if err := exs.Init(exs.Version1); err != nil {
		log.Fatal(err)
	}
	ln, err := exs.Listen("exs", "localhost:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		c, err := exs.Dial("exs", ln.Addr().String()) // as well in another process, on this host or another
		if err != nil {
			log.Fatal(err)
		}
		fmt.Fprintln(c, "hello")
		if err := c.Close(); err != nil {
			log.Fatal(err)
		}
	}()
	c, err := ln.Accept()
	if err != nil {
		log.Fatal(err)
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print("received: ", line)
	if err := exs.Finalize(); err != nil {
		log.Fatal(err)
	}
}
