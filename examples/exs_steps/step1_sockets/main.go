// Command step1_sockets is where the conversion to EXS begins: a client with normal
// sockets (section 10.1 of the manual). Its server sends every message back.
//
//	step1_sockets                  both in one process
//	step1_sockets -listen ADDR     the server
//	step1_sockets -to ADDR         the client
//
// The next step is step2_synchronous. The five of them differ in nothing but the
// function client.
package main

import (
	"errors"
	"io"
	"net"
	"net/netip"

	"gomx/examples/exs_steps/internal/echo"
)

func main() { echo.Main("step1_sockets", echo.ListenTCP, client) }

func client(server netip.AddrPort) error {
	fd, err := net.Dial("tcp", server.String())
	if err != nil {
		return err
	}
	return errors.Join(loop(fd), fd.Close())
}

func loop(fd net.Conn) error {
	out, in := make([]byte, echo.MaxBytes), make([]byte, echo.MaxBytes)
	for i := range echo.Messages {
		message := echo.Fill(out, i)
		if _, err := fd.Write(message); err != nil {
			return err
		}
		n, err := io.ReadFull(fd, in[:len(message)])
		if err != nil {
			return err
		}
		if err := echo.Check(in[:n], i); err != nil {
			return err
		}
	}
	return nil
}
