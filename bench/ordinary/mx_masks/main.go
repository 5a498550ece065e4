// Command mx_masks receives messages that came before their receives, the newest first, with masks that are wildcards: each
// leaves out other bits of the match information, and they take turns.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/meet"
	"gomx/mx"
)

// most is how many masks there are: each leaves out 4 of 64 bits.
const most = 16

// last is the match information of the message that tells that all others have come. Theirs never is.
const last = 1 << 63

func main() {
	unexpected := flag.Int("unexpected", 100_000, "messages that come before their receives")
	masks := flag.Int("masks", 8, "how many there are, 16 at most")
	flag.Parse()
	figure.Fail(run(*unexpected, min(*masks, most)))
}

func run(unexpected, masks int) error {
	from, err := meet.ServeAny()
	if err != nil {
		return err
	}
	ep, err := meet.ServeAny()
	if err != nil {
		return err
	}
	to, err := meet.Connect(from, ep)
	if err != nil {
		return err
	}
	sent := make(chan error, 1)
	go func() { sent <- send(from, to, unexpected) }()
	if _, err := meet.Recv(ep, nil, last); err != nil {
		return err
	}
	m := figure.Begin()
	buf := make([]byte, 8)
	for i := unexpected - 1; i >= 0; i-- {
		if err := receive(ep, buf, i, mask(i%masks)); err != nil {
			return err
		}
	}
	m.Each(unexpected)
	if err := <-sent; err != nil {
		return err
	}
	return ep.Close()
}

// match differs between messages in many bits, so that a mask leaves none like another.
func match(i int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 &^ last }

func mask(n int) uint64 { return ^(uint64(0xf) << (4 * n)) }

// send sends all, then the last one. It waits for none until all have left, for those that the receiver has no memory for stay with the
// sender until they are received.
func send(from *mx.Endpoint, to mx.EndpointAddr, count int) error {
	bufs, reqs := make([][8]byte, count), make([]mx.Request, count)
	for i := range bufs {
		binary.LittleEndian.PutUint64(bufs[i][:], uint64(i))
		var err error
		if reqs[i], err = from.Isend(bufs[i][:], to, match(i), nil); err != nil {
			return err
		}
	}
	r, err := from.Isend(nil, to, last, nil)
	if err != nil {
		return err
	}
	for _, r := range append(reqs, r) {
		st, _, err := from.Wait(r, mx.Infinite)
		if err == nil {
			err = st.Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func receive(ep *mx.Endpoint, buf []byte, i int, mask uint64) error {
	r, err := ep.Irecv(buf, match(i)&mask, mask, nil)
	if err != nil {
		return err
	}
	st, _, err := ep.Wait(r, mx.Infinite)
	if err == nil {
		err = st.Err()
	}
	if got := binary.LittleEndian.Uint64(buf); err == nil && got != uint64(i) {
		err = fmt.Errorf("received message %d, not %d", got, i)
	}
	return err
}
