// Command mx_idle measures how much more memory of a process is resident when its endpoint has peers in other processes,
// each of which has sent one message and is silent then. Its figure is in MiB.
package main

import (
	"flag"
	"io"
	"os"
	"os/exec"
	"strconv"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/meet"
	"gomx/mx"
)

func main() {
	peer := flag.Int("peer", -1, "be a peer of this `endpoint`")
	peers := flag.Int("peers", 64, "how many there are")
	flag.Parse()
	if *peer >= 0 {
		figure.Fail(call(*peer))
	} else {
		figure.Fail(serve(*peers))
	}
}

func serve(peers int) error {
	ep, err := meet.ServeAny()
	if err != nil {
		return err
	}
	before, err := figure.ResidentMiB("VmRSS")
	if err != nil {
		return err
	}
	m := figure.Begin()
	others := make([]*exec.Cmd, peers)
	end := make([]io.Closer, peers)
	for i := range others {
		if others[i], end[i], err = start(ep); err != nil {
			return err
		}
	}
	for range peers {
		if _, err := meet.Recv(ep, make([]byte, 8), 1); err != nil {
			return err
		}
	}
	after, err := figure.ResidentMiB("VmRSS")
	if err != nil {
		return err
	}
	m.Print(after-before, peers)
	for i := range others {
		_ = end[i].Close()
	}
	for _, other := range others {
		if err := other.Wait(); err != nil {
			return err
		}
	}
	return ep.Close()
}

func start(ep *mx.Endpoint) (*exec.Cmd, io.Closer, error) {
	other := meet.Again("-peer", strconv.Itoa(int(ep.ID())))
	end, err := other.StdinPipe()
	if err == nil {
		err = other.Start()
	}
	return other, end, err
}

// call ends when its standard input does.
func call(id int) error {
	ep, to, err := meet.Call(id)
	if err != nil {
		return err
	}
	if err := meet.Send(ep, make([]byte, 8), to, 1); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return ep.Close()
}
