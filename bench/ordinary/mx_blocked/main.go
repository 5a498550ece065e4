// Command mx_blocked measures the processor time of a process that is blocked in Wait, in percent of one processor. A
// second process of the same program is its peer, which sends nothing meanwhile.
package main

import (
	"flag"
	"strconv"
	"time"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/meet"
)

func main() {
	peer := flag.Int("peer", -1, "be the peer of this `endpoint`")
	still := flag.Duration("still", 2*time.Second, "how long nothing is sent")
	flag.Parse()
	if *peer >= 0 {
		figure.Fail(call(*peer, *still))
	} else {
		figure.Fail(serve(*still))
	}
}

func serve(still time.Duration) error {
	ep, err := meet.ServeAny()
	if err != nil {
		return err
	}
	other := meet.Again("-peer", strconv.Itoa(int(ep.ID())), "-still", still.String())
	if err := other.Start(); err != nil {
		return err
	}
	buf := make([]byte, 8)
	if _, err := meet.Recv(ep, buf, 1); err != nil {
		return err
	}
	m := figure.Begin()
	if _, err := meet.Recv(ep, buf, 2); err != nil {
		return err
	}
	m.Print(m.Share(), 1)
	if err := other.Wait(); err != nil {
		return err
	}
	return ep.Close()
}

func call(id int, still time.Duration) error {
	ep, to, err := meet.Call(id)
	if err != nil {
		return err
	}
	if err := meet.Send(ep, make([]byte, 8), to, 1); err != nil {
		return err
	}
	time.Sleep(still)
	if err := meet.Send(ep, make([]byte, 8), to, 2); err != nil {
		return err
	}
	return ep.Close()
}
