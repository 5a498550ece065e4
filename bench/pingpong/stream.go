package pingpong

import (
	"errors"
	"fmt"
	"math"
	"time"

	"gomx/mx"
)

// Bounds of a stream.
const (
	streamBytes   = 4 << 30               // of its buffers on one side: each message under way has one of its own
	streamTime    = 2 * PerLength         // a stream whose length is left open lasts so long at least
	firstStream   = 256                   // messages of the first try, which only tells how many are needed
	mostStreaming = 1 << 26               // messages of the last
	streamSeed    = uint64(1)<<63 | 1<<62 // the contents of messages to the leader
	matchStream   = matchOut              // messages to the follower
	matchReverse  = uint64(0x8000_0000)   // messages to the leader, as in MX
	leastStream   = 50 * time.Microsecond // what a try lasts at least, by reckoning
	growth        = 16                    // how many times as long the next try is at most
)

// Way is what one direction of a stream has carried, as its receiver has timed it.
type Way struct {
	Bandwidth float64 `json:"bandwidth_MBps"` // 10^6 bytes a second
	Rate      float64 `json:"rate_msgps"`     // messages a second
}

func (p *Plan) checkStream() error {
	switch {
	case !p.Stream && p.Both:
		return errors.New("only a stream goes both ways at once")
	case !p.Stream:
		return nil
	case p.Window < 1:
		return errors.New("a stream needs at least one message under way")
	case p.Posted > 0 || p.Unexpected > 0 || p.OneSided != NoOneSided:
		return errors.New("a stream has neither queues in its way nor one-sided operations")
	case p.streamBytes() > min(streamBytes, math.MaxInt):
		return fmt.Errorf("%d messages of %d bytes under way take more than %d bytes of memory: take fewer, or shorter ones", p.Window, p.longest(), int64(streamBytes))
	}
	return nil
}

// bytes is how long the buffer of a side is. Each message of a stream that is under way has its own part, one for each
// direction.
func (p *Plan) bytes() int {
	if !p.Stream {
		return p.longest()
	}
	return int(p.streamBytes())
}

func (p *Plan) streamBytes() int64 {
	ways := int64(1)
	if p.Both {
		ways = 2
	}
	return int64(p.Window) * ways * int64(p.longest())
}

// streamAll measures the lengths of a stream, as the leader.
func (l leader) streamAll(w Watcher) error {
	if err := w.Began(); err != nil {
		return err
	}
	for _, length := range l.plan.Lengths {
		if l.plan.Warmup > 0 {
			if _, _, err := l.streamOnce(length, l.plan.Warmup); err != nil {
				return err
			}
		}
		r, err := l.streamLength(length)
		if err != nil {
			return err
		}
		if err := w.Result(r); err != nil {
			return err
		}
	}
	return nil
}

// streamLength streams as many messages as the plan says, or tries more and more until they last long enough.
func (l leader) streamLength(length int) (Result, error) {
	count := l.plan.Iterations
	if count == 0 {
		count = firstStream
	}
	for {
		sent, got, err := l.streamOnce(length, count)
		if err != nil {
			return Result{}, err
		}
		if l.plan.Iterations > 0 || sent >= streamTime || count >= mostStreaming {
			return l.plan.streamed(length, count, sent, got), nil
		}
		more := int(streamTime*5/4/max(sent, leastStream)) + 1
		count = min(count*min(more, growth), mostStreaming)
	}
}

// streamOnce streams count messages. It returns how long the follower took to receive them, and with Both how long the
// leader did.
func (l leader) streamOnce(length, count int) (sent, got time.Duration, err error) {
	if _, err := l.order(order{orderRun, length, count}); err != nil {
		return 0, 0, err
	}
	if got, err = l.flow(length, count, true, l.plan.Both, matchStream, matchReverse); err != nil {
		return 0, 0, err
	}
	a, err := l.answered()
	if l.corrupt != nil {
		err = l.corrupt
	}
	return max(time.Duration(a.value*1e3), 1), max(got, 1), err
}

// serveStream is the follower's part of streamOnce.
func (f follower) serveStream(o order) error {
	if err := f.answer(answer{}); err != nil {
		return err
	}
	got, err := f.flow(o.length, o.count, f.plan.Both, true, matchReverse, matchStream)
	switch {
	case err != nil:
		return err
	case f.corrupt != nil:
		return f.answer(answer{failure: f.corrupt.Error(), corrupt: true})
	}
	return f.answer(answer{value: float64(got) / 1e3})
}

// streamed makes the figures.
func (p *Plan) streamed(length, count int, sent, got time.Duration) Result {
	way := func(d time.Duration) *Way {
		rate := float64(count) / d.Seconds()
		return &Way{Bandwidth: neat(rate * float64(length) / 1e6), Rate: neat(rate)}
	}
	r := Result{Length: length, Iterations: count, Window: p.Window, Send: way(sent)}
	total := *r.Send
	if p.Both {
		r.Receive = way(got)
		total.Bandwidth += r.Receive.Bandwidth
		total.Rate += r.Receive.Rate
	}
	r.Bandwidth, r.Rate = neat(total.Bandwidth), neat(total.Rate/1e6)
	return r
}

// flow sends count messages, or receives as many, or both at once, with a window of each under way. It returns how long
// the receives took, from the call on.
func (s *side) flow(length, count int, sends, receives bool, matchSend, matchRecv uint64) (got time.Duration, err error) {
	start := time.Now()
	for i := range min(count, s.plan.Window) {
		if receives {
			if err := s.flowReceive(i, length, matchRecv); err != nil {
				return 0, err
			}
		}
	}
	for i := range min(count, s.plan.Window) {
		if sends {
			if err := s.flowSend(i, length, matchSend); err != nil {
				return 0, err
			}
		}
	}
	for i := range count {
		if i%atOnce == 0 && s.ctx.Err() != nil {
			return 0, s.ctx.Err()
		}
		if receives {
			if err := s.flowReceived(i, count, length, matchRecv); err != nil {
				return 0, err
			}
			if i == count-1 {
				got = time.Since(start)
			}
		}
		if sends {
			if err := s.wait(s.reqs[i%s.plan.Window]); err != nil {
				return 0, err
			}
			if next := i + s.plan.Window; next < count {
				if err := s.flowSend(next, length, matchSend); err != nil {
					return 0, err
				}
			}
		}
	}
	return got, nil
}

// part is the piece of the buffer of message i: those that are received lie behind those that are sent.
func (s *side) part(i, length int, received bool) []byte {
	slot := i % s.plan.Window
	if received && s.plan.Both {
		slot += s.plan.Window
	}
	return s.buf[slot*length:][:length]
}

// seedOf tells messages of the two directions apart.
func seedOf(i int, match uint64) uint64 {
	if match == matchReverse {
		return streamSeed | uint64(i)
	}
	return uint64(i)
}

func (s *side) flowSend(i, length int, match uint64) (err error) {
	b := s.part(i, length, false)
	if s.plan.Verify {
		Fill(b, seedOf(i, match))
	}
	send := (*mx.Endpoint).Isend
	if s.plan.Sync {
		send = (*mx.Endpoint).Issend
	}
	s.reqs[i%s.plan.Window], err = send(s.ep, b, s.peer, match, nil)
	return err
}

func (s *side) flowReceive(i, length int, match uint64) (err error) {
	s.recvs[i%s.plan.Window], err = s.ep.Irecv(s.part(i, length, true), match, mx.MatchMaskNone, nil)
	return err
}

// flowReceived waits for message i, checks it, and receives another in its place.
func (s *side) flowReceived(i, count, length int, match uint64) error {
	if err := s.wait(s.recvs[i%s.plan.Window]); err != nil {
		return err
	}
	if s.plan.Verify && s.corrupt == nil {
		if err := Verify(s.part(i, length, true), seedOf(i, match)); err != nil {
			s.corrupt = fmt.Errorf("message %d: %w", i, err)
		}
	}
	if next := i + s.plan.Window; next < count {
		return s.flowReceive(next, length, match)
	}
	return nil
}
