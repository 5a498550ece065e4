// Command mx_killed measures how long a process waits for a peer that was killed, another process of the same program:
// from the kill until a synchronous send to it ends. Its figure is in milliseconds.
package main

import (
	"errors"
	"flag"
	"strconv"
	"time"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/meet"
	"gomx/mx"
)

func main() {
	peer := flag.Int("peer", -1, "be the peer of this `endpoint`")
	flag.Parse()
	if *peer >= 0 {
		figure.Fail(stay(*peer))
	} else {
		figure.Fail(wait())
	}
}

func wait() error {
	ep, err := meet.ServeAny()
	if err != nil {
		return err
	}
	other := meet.Again("-peer", strconv.Itoa(int(ep.ID())))
	if err := other.Start(); err != nil {
		return err
	}
	to, err := meet.Recv(ep, make([]byte, 8), 1)
	if err != nil {
		return err
	}
	r, err := ep.Issend(make([]byte, 8), to, 2, nil)
	if err != nil {
		return err
	}
	time.Sleep(50 * time.Millisecond) // the peer waits in the library
	m, begin := figure.Begin(), time.Now()
	if err := other.Process.Kill(); err != nil {
		return err
	}
	st, _, err := ep.Wait(r, mx.Infinite)
	if err != nil {
		return err
	}
	if st.Code == mx.StatusSuccess {
		return errors.New("a message to a process that was killed has arrived")
	}
	m.Print(time.Since(begin).Seconds()*1e3, 1)
	_ = other.Wait() // it was killed
	return ep.Close()
}

func stay(id int) error {
	ep, to, err := meet.Call(id)
	if err != nil {
		return err
	}
	if err := meet.Send(ep, make([]byte, 8), to, 1); err != nil {
		return err
	}
	_, err = meet.Recv(ep, make([]byte, 8), 3) // nobody sends it
	return err
}
