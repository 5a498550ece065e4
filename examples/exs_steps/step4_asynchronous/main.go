// Command step4_asynchronous is step2_synchronous with asynchronous operations: each
// is started, something else is done meanwhile, and then its event is awaited
// (section 10.4 of the manual). What is done meanwhile is to make the next message,
// and to check the answer before.
//
//	step4_asynchronous                  client and server in one process
//	step4_asynchronous -listen ADDR     the server
//	step4_asynchronous -to ADDR         the client
//
// The next step is step5_both.
package main

import (
	"errors"
	"net/netip"

	"gomx/examples/exs_steps/internal/echo"
	"gomx/exs"
)

func main() { echo.Main("step4_asynchronous", echo.ListenEXS, client) }

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
	var out, in [2][]byte
	for k := range out {
		out[k], in[k] = make([]byte, echo.MaxBytes), make([]byte, echo.MaxBytes)
	}
	message := echo.Fill(out[0], 0)
	if _, err := echo.Ended(management); err != nil {
		return err
	}
	failed := loop(fd, message, out, in)
	if err := fd.Close(0, management, nil); err != nil {
		return errors.Join(failed, err)
	}
	_, err = echo.Ended(management)
	return errors.Join(failed, err, management.Delete())
}

func loop(fd *exs.Socket, message []byte, out, in [2][]byte) error {
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
		if _, err := fd.Send(message, 0, outgoing, nil, exs.Unregistered); err != nil {
			return err
		}
		next := echo.Fill(out[(i+1)%2], i+1) // while that one is sent
		if _, err := echo.Ended(outgoing); err != nil {
			return err
		}
		answer := in[i%2][:len(message)]
		if _, err := fd.Recv(answer, exs.WaitAll, incoming, nil, exs.Unregistered); err != nil {
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
