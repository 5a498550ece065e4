package main

import (
	"encoding/binary"
	"fmt"

	"gomx/mx"
)

// Match information of the two kinds of messages.
const (
	number = 1 // a number to add
	last   = 2 // how many numbers the sender has sent

	eitherKind = ^uint64(number | last)
)

// sum is what one sender has sent.
type sum struct{ count, total uint64 }

// collect adds up the numbers of some senders until each has sent its last one.
func collect(ep *mx.Endpoint, senders int) error {
	var (
		buffers [window][8]byte
		posted  [window]mx.Request
		err     error
		sums    = map[mx.EndpointAddr]*sum{}
	)
	for i := range window {
		if posted[i], err = ep.Irecv(buffers[i][:], 0, eitherKind, nil); err != nil {
			return err
		}
	}
	for i := 0; senders > 0; i = (i + 1) % window {
		st, _, err := ep.Wait(posted[i], mx.Infinite)
		if err == nil {
			err = st.Err()
		}
		if err != nil {
			return err
		}
		s := sums[st.Source]
		if s == nil {
			s = &sum{}
			sums[st.Source] = s
		}
		value := binary.BigEndian.Uint64(buffers[i][:])
		if st.MatchInfo == last {
			senders--
			if value != s.count {
				return fmt.Errorf("%v sent %d numbers, %d have come", st.Source, value, s.count)
			}
		} else {
			s.count++
			s.total += value
		}
		if posted[i], err = ep.Irecv(buffers[i][:], 0, eitherKind, nil); err != nil {
			return err
		}
	}
	return report(sums)
}

func report(sums map[mx.EndpointAddr]*sum) error {
	var all sum
	for _, s := range sums {
		all.count += s.count
		all.total += s.total
	}
	_, err := fmt.Printf("%d senders, %d numbers, sum %d\n", len(sums), all.count, all.total)
	return err
}

// send sends the numbers from 1 to count, and then how many they were. A small
// message leaves its buffer at once, and a window of them is under way.
func send(ep *mx.Endpoint, to mx.EndpointAddr, count int) error {
	var (
		buffers [window][8]byte
		sent    [window]mx.Request
	)
	for i := range count + 1 + window {
		slot := i % window
		if i >= window {
			st, _, err := ep.Wait(sent[slot], mx.Infinite)
			if err == nil {
				err = st.Err()
			}
			if err != nil {
				return err
			}
		}
		if i > count {
			continue
		}
		value, match := uint64(i+1), uint64(number)
		if i == count {
			value, match = uint64(count), last
		}
		binary.BigEndian.PutUint64(buffers[slot][:], value)
		var err error
		if sent[slot], err = ep.Isend(buffers[slot][:], to, match, nil); err != nil {
			return err
		}
	}
	return nil
}
