// Command mx_incast has one endpoint receive what many endpoints of another process send to it, which one goroutine there
// serves in turn, some messages at a time each.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"strconv"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/meet"
	"gomx/mx"
)

const (
	length  = 8
	window  = 16 // messages of an endpoint before the next one's turn
	posted  = 64 // receives at a time
	payload = 1  // match information
)

func main() {
	to := flag.Int("to", -1, "be the senders to this `endpoint`")
	senders := flag.Int("senders", 1, "how many there are")
	count := flag.Int("count", 1_000_000, "messages of all senders")
	flag.Parse()
	rounds := max(1, *count/(*senders*window))
	if *to >= 0 {
		figure.Fail(send(*to, *senders, rounds))
	} else {
		figure.Fail(serve(*senders, rounds))
	}
}

func serve(senders, rounds int) error {
	ep, err := meet.ServeAny()
	if err != nil {
		return err
	}
	others := meet.Again("-to", strconv.Itoa(int(ep.ID())), "-senders", strconv.Itoa(senders), "-count", strconv.Itoa(rounds*senders*window))
	if err := others.Start(); err != nil {
		return err
	}
	// One round has been received before anything is measured.
	if err := receive(ep, senders*window); err != nil {
		return err
	}
	m, count := figure.Begin(), rounds*senders*window
	if err := receive(ep, count); err != nil {
		return err
	}
	m.Each(count)
	if err := others.Wait(); err != nil {
		return err
	}
	return ep.Close()
}

// receive receives so many messages, with some receives posted at any time.
func receive(ep *mx.Endpoint, count int) (err error) {
	bufs, reqs := make([][length]byte, posted), make([]mx.Request, posted)
	for i := range count + posted {
		slot := i % posted
		if i >= posted && i-posted < count {
			st, _, err := ep.Wait(reqs[slot], mx.Infinite)
			if err == nil {
				err = st.Err()
			}
			if got := binary.LittleEndian.Uint64(bufs[slot][:]); err == nil && got != payload {
				err = fmt.Errorf("received %d", got)
			}
			if err != nil {
				return err
			}
		}
		if i < count {
			clear(bufs[slot][:])
			if reqs[slot], err = ep.Irecv(bufs[slot][:], payload, mx.MatchMaskNone, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// send sends one round more than is measured.
func send(id, senders, rounds int) error {
	all, to := make([]*mx.Endpoint, senders), make([]mx.EndpointAddr, senders)
	for i := range all {
		var err error
		if all[i], to[i], err = meet.Call(id); err != nil {
			return err
		}
	}
	buf, reqs := make([]byte, length), make([]mx.Request, senders*window)
	binary.LittleEndian.PutUint64(buf, payload)
	for range rounds + 1 {
		for i, ep := range all {
			for j := range window {
				var err error
				if reqs[i*window+j], err = ep.Isend(buf, to[i], payload, nil); err != nil {
					return err
				}
			}
		}
		for i, ep := range all {
			for _, r := range reqs[i*window : (i+1)*window] {
				st, _, err := ep.Wait(r, mx.Infinite)
				if err == nil {
					err = st.Err()
				}
				if err != nil {
					return err
				}
			}
		}
	}
	for _, ep := range all {
		if err := ep.Close(); err != nil {
			return err
		}
	}
	return nil
}
