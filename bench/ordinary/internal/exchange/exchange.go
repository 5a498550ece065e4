// Package exchange sends messages from one process to another, a window at a time, and gets one back. A window of one is a
// ping-pong. How operations are started and waited for is the program's.
package exchange

import (
	"encoding/binary"
	"flag"
	"fmt"
	"slices"
	"time"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/meet"
	"gomx/mx"
)

// Match is the match information of all messages.
const Match = 42

// New returns a Way that is good for so many operations at a time.
type New func(ep *mx.Endpoint, most int) (Way, error)

// Taking receives the messages of a window, and has each checked, in their order.
type Taking func(check func(message []byte) error) error

// NewTaking returns a Taking for windows of so many messages of at most so many bytes.
type NewTaking func(ep *mx.Endpoint, messages, bytes int) (Taking, error)

// loop is a program's side of the exchange.
type loop struct {
	ep    *mx.Endpoint
	peer  mx.EndpointAddr
	bufs  [][]byte
	way   Way
	take  Taking
	pause time.Duration
	trips []float64 // of those with a pause before them, us
	sent  uint64    // how many messages each side has numbered
	seen  uint64
}

// Main is the program: it is told by flags which side it is, and what to send. The side that answers receives by take, or, if that is
// nil, by a receive for each message.
func Main(how New, take NewTaking) {
	serve := flag.Bool("serve", false, "be the side that answers")
	id := flag.Int("endpoint", 0, "`number` of the side that answers")
	length := flag.Int("length", 8, "of a message, `bytes`, 8 at least")
	count := flag.Int("count", 100_000, "windows")
	window := flag.Int("window", 1, "messages at a time")
	counted := flag.Bool("counted", false, "the side that asks has a completion counter count what it starts")
	single := flag.Bool("single", false, "promise that one goroutine makes calls")
	pause := flag.Duration("pause", 0, "rest before each message, so that both sides sleep")
	flag.Parse()
	var params []mx.Param
	if *single {
		params = append(params, mx.SingleThreaded())
	}
	l := &loop{bufs: make([][]byte, *window), pause: *pause}
	for i := range l.bufs {
		l.bufs[i] = make([]byte, max(*length, 8)) // at least a number
	}
	if *serve {
		figure.Fail(l.serve(*id, *count, how, take, params))
	} else {
		if *counted {
			how = Counted
		}
		figure.Fail(l.call(*id, *count, how, params))
	}
}

func (l *loop) serve(id, count int, how New, take NewTaking, params []mx.Param) (err error) {
	if l.ep, err = meet.Serve(id, params...); err != nil {
		return err
	}
	if l.peer, err = meet.Recv(l.ep, l.bufs[0], Match); err != nil {
		return err
	}
	if l.way, err = how(l.ep, len(l.bufs)+1); err != nil {
		return err
	}
	l.take = l.takeEach
	if take != nil {
		if l.take, err = take(l.ep, len(l.bufs), len(l.bufs[0])); err != nil {
			return err
		}
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

func (l *loop) call(id, count int, how New, params []mx.Param) (err error) {
	if l.ep, l.peer, err = meet.Call(id, params...); err != nil {
		return err
	}
	if err := meet.Send(l.ep, l.bufs[0], l.peer, Match); err != nil {
		return err
	}
	if l.way, err = how(l.ep, len(l.bufs)+1); err != nil {
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
		if err := l.way.Recv(answer); err != nil {
			return err
		}
		for _, buf := range l.bufs {
			stamp(buf, &l.sent)
			if err := l.way.Send(buf, l.peer); err != nil {
				return err
			}
		}
		if err := l.way.Wait(); err != nil {
			return err
		}
		if err := check(answer, &l.seen); err != nil {
			return err
		}
		if l.pause > 0 {
			l.trips = append(l.trips, time.Since(begin).Seconds()*1e6)
		}
	}
	return nil
}

func (l *loop) answer(count int) (err error) {
	inOrder := func(message []byte) error { return check(message, &l.seen) }
	for range count {
		if err := l.take(inOrder); err != nil {
			return err
		}
		stamp(l.bufs[0], &l.sent)
		if err := meet.Send(l.ep, l.bufs[0], l.peer, Match); err != nil {
			return err
		}
	}
	return nil
}

// takeEach receives a window by a receive for each message.
func (l *loop) takeEach(check func(message []byte) error) error {
	for _, buf := range l.bufs {
		if err := l.way.Recv(buf); err != nil {
			return err
		}
	}
	if err := l.way.Wait(); err != nil {
		return err
	}
	for _, buf := range l.bufs {
		if err := check(buf); err != nil {
			return err
		}
	}
	return nil
}

// stamp numbers a message.
func stamp(buf []byte, sent *uint64) {
	*sent++
	binary.LittleEndian.PutUint64(buf, *sent)
}

// check wants a message to be the next one.
func check(buf []byte, seen *uint64) error {
	*seen++
	if n := binary.LittleEndian.Uint64(buf); n != *seen {
		return fmt.Errorf("received message %d, not %d", n, *seen)
	}
	return nil
}
