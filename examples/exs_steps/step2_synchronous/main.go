// Command step2_synchronous is the client of step1_sockets with EXS sockets, in
// synchronous mode and with memory that the library registers by itself (section 10.2
// of the manual): little but names has changed.
//
//	step2_synchronous                  client and server in one process
//	step2_synchronous -listen ADDR     the server
//	step2_synchronous -to ADDR         the client
//
// The next step is step3_registered, or step4_asynchronous.
package main

import (
	"errors"
	"io"
	"net/netip"

	"gomx/examples/exs_steps/internal/echo"
	"gomx/exs"
)

func main() { echo.Main("step2_synchronous", echo.ListenEXS, client) }

func client(server netip.AddrPort) error {
	if err := exs.Init(exs.Version1); err != nil {
		return err
	}
	defer exs.Finalize()
	fd, err := exs.NewSocket(exs.Inet, exs.Stream, 0)
	if err != nil {
		return err
	}
	if err := fd.BlockingConnect(server); err != nil {
		return err
	}
	return errors.Join(loop(fd), fd.BlockingClose())
}

func loop(fd *exs.Socket) error {
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
