package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"gomx/bench/pingpong"
	"gomx/mx"
)

const (
	page     = 4096
	guard    = 64 // bytes in front of and behind a message that must not change
	guarding = 0xa5
	matchTop = uint64(0x6c70) << 48
)

// step is what is sent at a time.
type step struct{ length, from, to int } // bytes: of the message, and where sender's and receiver's buffers begin in a page

// end is an endpoint with what it sends and receives.
type end struct {
	ep   *mx.Endpoint
	peer mx.EndpointAddr // the other end
	out  []byte
	in   []byte
	reqs []mx.Request
}

// pair is two ends, or one that sends to itself.
type pair struct {
	o      *options
	ends   []*end
	stride int    // of the buffers
	number uint64 // of the next message
	sent   chan error
	timed  context.Context // of a step
}

// memory is how many bytes all buffers take.
func (o *options) memory() int64 {
	return 4 * int64(o.parallel) * int64(o.stride())
}

func (o *options) stride() int {
	return (o.steps.End + o.alignBelow + 2*guard + page - 1) / page * page
}

func newPair(transport string, o *options) (p *pair, err error) {
	p = &pair{o: o, stride: o.stride(), sent: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	count := 2
	if transport == "self" {
		count = 1
	}
	for range count {
		e := &end{reqs: make([]mx.Request, o.parallel)}
		if e.ep, err = open(transport); err != nil {
			return p, err
		}
		p.ends = append(p.ends, e)
		for _, b := range []*[]byte{&e.out, &e.in} {
			if *b, err = p.buffer(); err != nil {
				return p, err
			}
		}
	}
	for i, e := range p.ends {
		nic, id, err := mx.DecomposeEndpointAddr(p.ends[(i+1)%count].ep.Addr())
		if err != nil {
			return p, err
		}
		if e.peer, err = e.ep.Connect(nic, id, filter, o.timeout); err != nil {
			return p, err
		}
	}
	return p, nil
}

// buffer returns memory that begins with a page, for as many messages as are sent at a time.
func (p *pair) buffer() ([]byte, error) {
	n := max(p.o.parallel*p.stride, 16*page) // memory of many pages begins with one
	if p.o.alloc {
		return mx.Alloc(n)
	}
	return make([]byte, n), nil
}

func (p *pair) close() (err error) {
	for _, e := range p.ends {
		err = errors.Join(err, e.ep.Close())
	}
	for _, e := range p.ends {
		for _, b := range [][]byte{e.out, e.in} {
			if p.o.alloc && b != nil {
				err = errors.Join(err, mx.Free(b))
			}
		}
	}
	return err
}

// exchange sends messages one way, the next time the other way. An ErrCorrupt is of the first that is.
func (p *pair) exchange(s step) error {
	from := p.ends[0]
	to := p.ends[len(p.ends)-1]
	if p.number/uint64(p.o.parallel)%2 == 1 {
		from, to = to, from
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.o.timeout)
	defer cancel()
	p.timed = ctx
	first := p.number
	p.number += uint64(p.o.parallel)
	recvs := to.reqs
	if from == to {
		recvs = make([]mx.Request, len(to.reqs))
	}
	if p.o.unexpected {
		go func() { p.sent <- p.send(from, s, first) }()
		return p.both(p.take(to, s, recvs, first), to, from, s, recvs, first)
	}
	err := p.post(to, s, recvs, first)
	go func() { p.sent <- p.send(from, s, first) }()
	return p.both(err, to, from, s, recvs, first)
}

// both waits for the receives, and for what the sender says.
func (p *pair) both(err error, to, from *end, s step, recvs []mx.Request, first uint64) error {
	if err == nil {
		err = p.check(to, from, s, recvs, first)
	}
	sent := <-p.sent // it ends with the context, whatever the receiver does
	return cmp.Or(err, sent)
}

func (p *pair) send(e *end, s step, first uint64) error {
	start := (*mx.Endpoint).Isend
	if p.o.sync {
		start = (*mx.Endpoint).Issend
	}
	for i := range e.reqs {
		b := e.out[i*p.stride+guard+s.from:][:s.length]
		pingpong.Fill(b, first+uint64(i))
		r, err := start(e.ep, b, e.peer, matchTop|first+uint64(i), nil)
		if err != nil {
			return err
		}
		e.reqs[i] = r
	}
	for _, r := range e.reqs {
		st, err := e.ep.WaitContext(p.timed, r)
		if err == nil {
			err = st.Err()
		}
		if err != nil {
			return p.late("a send", err)
		}
	}
	return nil
}

// target returns the memory that message i goes to, with the guards around it.
func (p *pair) target(e *end, s step, i int) (all, message []byte) {
	all = e.in[i*p.stride+s.to:][:s.length+2*guard]
	return all, all[guard:][:s.length]
}

// post posts the receives.
func (p *pair) post(e *end, s step, recvs []mx.Request, first uint64) error {
	for i := range recvs {
		all, message := p.target(e, s, i)
		for j := range all {
			all[j] = guarding
		}
		r, err := e.ep.Irecv(message, matchTop|first+uint64(i), mx.MatchMaskNone, nil)
		if err != nil {
			return err
		}
		recvs[i] = r
	}
	return nil
}

// take waits until each message is there, and posts its receive then.
func (p *pair) take(e *end, s step, recvs []mx.Request, first uint64) error {
	for i := range recvs {
		st, _, err := e.ep.ProbeContext(p.timed, matchTop|first+uint64(i), mx.MatchMaskNone)
		if err != nil {
			return p.late("a probe", err)
		}
		if int(st.MsgLength) != s.length {
			return fmt.Errorf("%w: message %d: the probe tells of %d bytes", pingpong.ErrCorrupt, first+uint64(i), st.MsgLength)
		}
	}
	return p.post(e, s, recvs, first)
}

// check waits for the receives, and looks at everything that has come.
func (p *pair) check(e, from *end, s step, recvs []mx.Request, first uint64) (corrupt error) {
	for i, r := range recvs {
		st, err := e.ep.WaitContext(p.timed, r)
		if err == nil {
			err = st.Err()
		}
		if err != nil {
			return p.late("a receive", err)
		}
		if err := p.checkOne(e, s, i, &st, first+uint64(i)); err != nil && corrupt == nil {
			corrupt = fmt.Errorf("message %d from %v to %v: %w", first+uint64(i), from.ep, e.ep, err)
		}
	}
	return corrupt
}

func (p *pair) checkOne(e *end, s step, i int, st *mx.Status, number uint64) error {
	all, message := p.target(e, s, i)
	switch {
	case int(st.XferLength) != s.length || int(st.MsgLength) != s.length:
		return fmt.Errorf("%w: %d of %d bytes are said to have come", pingpong.ErrCorrupt, st.XferLength, st.MsgLength)
	case st.MatchInfo != matchTop|number:
		return fmt.Errorf("%w: its match information is %#x", pingpong.ErrCorrupt, st.MatchInfo)
	case st.Source != e.peer:
		return fmt.Errorf("%w: it is said to be from %v", pingpong.ErrCorrupt, st.Source)
	case p.o.blind:
		return nil
	}
	if err := pingpong.Verify(message, number); err != nil {
		return err
	}
	for _, b := range [][]byte{all[:guard], all[guard+s.length:]} {
		if bytes.Count(b, []byte{guarding}) != guard {
			return fmt.Errorf("%w: bytes in front of or behind the message are changed", pingpong.ErrCorrupt)
		}
	}
	return nil
}

// late says what to do about a message that does not come.
func (p *pair) late(what string, err error) error {
	if p.timed.Err() != nil {
		return fmt.Errorf("%s is not complete after %v: allow it more time with -t, or see what mx_endpoint_info -v shows while it waits: %w", what, p.o.timeout, err)
	}
	return err
}
