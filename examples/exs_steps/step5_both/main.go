// Command step5_both ends the conversion: registered memory, as in step3_registered,
// and asynchronous operations, as in step4_asynchronous (section 10.5 of the manual).
//
//	step5_both                  client and server in one process
//	step5_both -listen ADDR     the server
//	step5_both -to ADDR         the client
package main

import (
	"errors"
	"net/netip"

	"gomx/examples/exs_steps/internal/echo"
	"gomx/exs"
)

func main() { echo.Main("step5_both", echo.ListenEXS, client) }

func client(server netip.AddrPort) error {
	if err := exs.Init(exs.Version1); err != nil {
		return err
	}
	defer exs.Finalize()
	fd, err := exs.NewSocket(exs.Inet, exs.Stream, 0)
	if err != nil {
		return err
	}
	management, err := exs.NewQueue(1)
	if err != nil {
		return err
	}
	if err := fd.Connect(server, 0, exs.Infinite, management, nil); err != nil {
		return err
	}
	out, in := make([]byte, 2*echo.MaxBytes), make([]byte, 2*echo.MaxBytes)
	message := echo.Fill(half(out, 0), 0)
	if _, err := echo.Ended(management); err != nil {
		return err
	}
	inMemory, err := exs.Register(in, 0)
	if err != nil {
		return err
	}
	outMemory, err := exs.Register(out, exs.RecvDisable)
	if err != nil {
		return err
	}
	failed := loop(fd, message, outMemory, inMemory)
	failed = errors.Join(failed, outMemory.Deregister(0), inMemory.Deregister(0))
	if err := fd.Close(0, management, nil); err != nil {
		return errors.Join(failed, err)
	}
	_, err = echo.Ended(management)
	return errors.Join(failed, err, management.Delete())
}

// half is the part of the memory that message i uses.
func half(b []byte, i int) []byte { return b[i%2*echo.MaxBytes:][:echo.MaxBytes] }

func loop(fd *exs.Socket, message []byte, out, in *exs.Memory) error {
	incoming, err := exs.NewQueue(3)
	if err != nil {
		return err
	}
	outgoing, err := exs.NewQueue(3)
	if err != nil {
		return err
	}
	var before []byte // the answer to the message before
	for i := range echo.Messages {
		if _, err := fd.Send(message, 0, outgoing, nil, out); err != nil {
			return err
		}
		next := echo.Fill(half(out.Bytes(), i+1), i+1) // while that one is sent
		if _, err := echo.Ended(outgoing); err != nil {
			return err
		}
		answer := half(in.Bytes(), i)[:len(message)]
		if _, err := fd.Recv(answer, exs.WaitAll, incoming, nil, in); err != nil {
			return err
		}
		if i > 0 { // while this one is received
			if err := echo.Check(before, i-1); err != nil {
				return err
			}
		}
		event, err := echo.Ended(incoming)
		if err != nil {
			return err
		}
		before, message = answer[:event.Length], next
	}
	return errors.Join(echo.Check(before, echo.Messages-1), outgoing.Delete(), incoming.Delete())
}
