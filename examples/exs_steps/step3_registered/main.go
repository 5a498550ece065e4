// Command step3_registered is step2_synchronous with memory that it registers
// itself, once, instead of leaving that to the library for each transfer (section 10.3
// of the manual).
//
//	step3_registered                  client and server in one process
//	step3_registered -listen ADDR     the server
//	step3_registered -to ADDR         the client
//
// The next step is step5_both.
package main

import (
	"errors"
	"net/netip"

	"gomx/examples/exs_steps/internal/echo"
	"gomx/exs"
)

func main() { echo.Main("step3_registered", echo.ListenEXS, client) }

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
	in, err := exs.Register(make([]byte, echo.MaxBytes), 0)
	if err != nil {
		return err
	}
	out, err := exs.Register(make([]byte, echo.MaxBytes), exs.RecvDisable)
	if err != nil {
		return err
	}
	return errors.Join(loop(fd, out, in), out.Deregister(0), in.Deregister(0), fd.BlockingClose())
}

func loop(fd *exs.Socket, out, in *exs.Memory) error {
	for i := range echo.Messages {
		message := echo.Fill(out.Bytes(), i)
		if _, err := fd.BlockingSend(message, 0, out); err != nil {
			return err
		}
		answer := in.Bytes()[:len(message)]
		n, err := fd.BlockingRecv(answer, exs.WaitAll, in)
		if err != nil {
			return err
		}
		if err := echo.Check(answer[:n], i); err != nil {
			return err
		}
	}
	return nil
}
