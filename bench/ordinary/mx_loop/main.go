// Command mx_loop sends messages from one process to another, a window at a time, and gets one back: by
// Isend, Irecv, and Wait with its status. A window of one is a ping-pong.
package main

import (
	"flag"
	"slices"
	"time"

	"gomx/bench/ordinary/internal/figure"
	"gomx/bench/ordinary/internal/meet"
	"gomx/mx"
)

const match = 42

// loop is a program's side of the exchange.
type loop struct {
	ep    *mx.Endpoint
	peer  mx.EndpointAddr
	bufs  [][]byte
	reqs  []mx.Request
	pause time.Duration
	trips []float64 // of those with a pause before them, us
}

func main() {
	serve := flag.Bool("serve", false, "be the side that answers")
	id := flag.Int("endpoint", 0, "`number` of the side that answers")
	length := flag.Int("length", 8, "of a message, `bytes`")
	count := flag.Int("count", 100_000, "windows")
	window := flag.Int("window", 1, "messages at a time")
	single := flag.Bool("single", false, "promise that one goroutine makes calls")
	pause := flag.Duration("pause", 0, "rest before each message, so that both sides sleep")
	flag.Parse()
	var params []mx.Param
	if *single {
		params = append(params, mx.SingleThreaded())
	}
	l := &loop{bufs: make([][]byte, *window), reqs: make([]mx.Request, *window), pause: *pause}
	for i := range l.bufs {
		l.bufs[i] = make([]byte, *length)
	}
	if *serve {
		figure.Fail(l.serve(*id, *count, params))
	} else {
		figure.Fail(l.call(*id, *count, params))
	}
}

func (l *loop) serve(id, count int, params []mx.Param) (err error) {
	if l.ep, err = meet.Serve(id, params...); err != nil {
		return err
	}
	if l.peer, err = meet.Recv(l.ep, l.bufs[0], match); err != nil {
		return err
	}
	if err := l.answer(count/10 + 1); err != nil {
		return err
	}
	m := figure.Begin()
	if err := l.answer(count); err != nil {
		return err
	}
	m.Aside()
	return l.ep.Close()
}

func (l *loop) call(id, count int, params []mx.Param) (err error) {
	if l.ep, l.peer, err = meet.Call(id, params...); err != nil {
		return err
	}
	if err := meet.Send(l.ep, l.bufs[0], l.peer, match); err != nil {
		return err
	}
	if err := l.ask(count/10 + 1); err != nil {
		return err
	}
	l.trips = l.trips[:0]
	m := figure.Begin()
	if err := l.ask(count); err != nil {
		return err
	}
	switch {
	case l.pause > 0:
		slices.Sort(l.trips)
		m.Print(l.trips[len(l.trips)/2]/2, 2*count)
	case len(l.bufs) == 1:
		m.Each(2 * count)
	default:
		m.Each(count * len(l.bufs))
	}
	return l.ep.Close()
}

func (l *loop) ask(count int) error {
	answer := make([]byte, len(l.bufs[0]))
	for range count {
		var begin time.Time
		if l.pause > 0 {
			time.Sleep(l.pause)
			begin = time.Now()
		}
		back, err := l.ep.Irecv(answer, match, mx.MatchMaskNone, nil)
		if err != nil {
			return err
		}
		for i, buf := range l.bufs {
			if l.reqs[i], err = l.ep.Isend(buf, l.peer, match, nil); err != nil {
				return err
			}
		}
		for _, r := range l.reqs {
			if err := l.wait(r); err != nil {
				return err
			}
		}
		if err := l.wait(back); err != nil {
			return err
		}
		if l.pause > 0 {
			l.trips = append(l.trips, time.Since(begin).Seconds()*1e6)
		}
	}
	return nil
}

func (l *loop) answer(count int) (err error) {
	for range count {
		for i, buf := range l.bufs {
			if l.reqs[i], err = l.ep.Irecv(buf, match, mx.MatchMaskNone, nil); err != nil {
				return err
			}
		}
		for _, r := range l.reqs {
			if err := l.wait(r); err != nil {
				return err
			}
		}
		if err := meet.Send(l.ep, l.bufs[0], l.peer, match); err != nil {
			return err
		}
	}
	return nil
}

func (l *loop) wait(r mx.Request) error {
	st, _, err := l.ep.Wait(r, mx.Infinite)
	if err == nil {
		err = st.Err()
	}
	return err
}
