// Command mx_flood measures how much memory a process takes that never receives, while senders, which are the endpoints
// of another process, send to it until they have to wait. Its figure is in MiB.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/meet"
	"gomx/mx"
)

// patience is how long a sender waits for a message to leave, before it takes it that none does.
const patience = time.Second

func main() {
	to := flag.Int("to", -1, "be the senders to this `endpoint`")
	senders := flag.Int("senders", 1, "how many there are")
	count := flag.Int("count", 300_000, "messages of all senders, at most")
	length := flag.Int("length", 500, "of a message, `bytes`")
	flag.Parse()
	if *to >= 0 {
		figure.Fail(flood(*to, *senders, *count/(*senders), *length))
	} else {
		figure.Fail(serve(os.Args[1:]))
	}
}

func serve(args []string) error {
	ep, err := meet.ServeAny()
	if err != nil {
		return err
	}
	before, err := figure.ResidentMiB("VmRSS")
	if err != nil {
		return err
	}
	m := figure.Begin()
	others := meet.Again(append([]string{"-to", strconv.Itoa(int(ep.ID()))}, args...)...)
	end, err := others.StdinPipe()
	if err != nil {
		return err
	}
	said, err := others.StdoutPipe()
	if err != nil {
		return err
	}
	if err := others.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		return err
	}
	sent, err := strconv.Atoi(line[:len(line)-1])
	if err != nil {
		return err
	}
	most, err := figure.ResidentMiB("VmHWM")
	if err != nil {
		return err
	}
	m.Print(most-before, sent)
	_ = end.Close()
	return others.Wait()
}

// flood opens so many endpoints, then sends with all of them at once, prints how many messages have left, and ends when its
// standard input does.
func flood(id, senders, count, length int) error {
	var sends []func() (int, error)
	// Numbers in a row, above that of the receiver.
	for own := uint32(id) + 1; len(sends) < senders; own++ {
		ep, to, err := meet.CallAs(own, id)
		if errors.Is(err, mx.ErrBusy) {
			continue
		}
		if err != nil {
			return err
		}
		sends = append(sends, func() (int, error) { return send(ep, to, count, length) })
	}
	type outcome struct {
		sent int
		err  error
	}
	ended := make(chan outcome)
	for _, send := range sends {
		go func() {
			n, err := send()
			ended <- outcome{n, err}
		}()
	}
	sent := 0
	for range senders {
		o := <-ended
		if o.err != nil {
			return o.err
		}
		sent += o.sent
	}
	fmt.Println(sent)
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// send sends until all messages have left or one does not.
func send(ep *mx.Endpoint, to mx.EndpointAddr, count, length int) (sent int, err error) {
	buf := make([]byte, length)
	for ; sent < count; sent++ {
		r, err := ep.Isend(buf, to, 1, nil)
		if err != nil {
			return sent, err
		}
		st, done, err := ep.Wait(r, patience)
		if err == nil && done {
			err = st.Err()
		}
		if err != nil || !done {
			return sent, err
		}
	}
	return sent, nil
}
