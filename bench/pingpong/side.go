package pingpong

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gomx/mx"
)

// Match values; see the package comment.
const (
	matchParams  = 0x0000222211110000
	matchControl = matchParams + 1
	matchOut     = 0x1000
	matchBack    = 0
	matchPosted  = 1<<62 | 1<<61
	matchParked  = 1 << 62
)

// lookAfter is how long a silent peer is waited for before we look whether it is
// still there: a receive is tied to no peer, and would wait for ever.
const lookAfter = time.Second

// atOnce is how many exchanges are made between two looks at the context.
const atOnce = 256

// side is one end of a measurement.
type side struct {
	ctx  context.Context // ends the measurement
	ep   *mx.Endpoint
	peer mx.EndpointAddr
	plan Plan

	buf       []byte
	reqs      []mx.Request // of the window
	recvs     []mx.Request // of a stream
	strangers []mx.Request // receives that match nothing
	parked    [8]byte      // for what lies in the queues
	control   [controlMax]byte

	nic    uint64 // of the peer
	eid    uint32
	filter uint32

	window mx.WindowHandle // of the follower, for one-sided operations
	opened *mx.Window      // the follower's own
	check  []byte          // what was put there, or is there
	runs   uint64          // how often

	exchanged uint64 // exchanges so far, which both sides count alike
	corrupt   error  // the first corrupt message since the last report
}

func newSide(ctx context.Context, ep *mx.Endpoint, peer mx.EndpointAddr, filter uint32) (*side, error) {
	nic, eid, err := mx.DecomposeEndpointAddr(peer)
	if err != nil {
		return nil, err
	}
	return &side{ctx: ctx, ep: ep, peer: peer, filter: filter, nic: nic, eid: eid}, nil
}

// allocate makes the buffer, and touches it, so that no page is missing later.
func (s *side) allocate() error {
	n := max(s.plan.bytes(), 1)
	if s.plan.Alloc {
		b, err := mx.Alloc(n)
		if err != nil {
			return err
		}
		s.buf = b
	} else {
		s.buf = make([]byte, max(n, 4096)) // a page is not shared with anything
	}
	Fill(s.buf, 0)
	s.reqs = make([]mx.Request, max(s.plan.Window, 1))
	if s.plan.OneSided != NoOneSided {
		s.check = make([]byte, len(s.buf))
	}
	if s.plan.Stream {
		s.recvs = make([]mx.Request, s.plan.Window)
	}
	return nil
}

// free gives everything back that the side holds, whatever state it is in.
func (s *side) free() error {
	if s.opened != nil {
		_ = s.opened.Close() // an endpoint that is closed has closed it
	}
	for _, requests := range [][]mx.Request{s.reqs, s.recvs, s.strangers} {
		for _, r := range requests {
			_, _ = s.ep.Cancel(r) // one that has ended is refused, which is as good
		}
	}
	if s.plan.Alloc && s.buf != nil {
		return mx.Free(s.buf)
	}
	return nil
}

// send sends the first n bytes of the buffer.
func (s *side) send(n int, match uint64) error {
	r, err := s.isend(n, match)
	if err != nil {
		return err
	}
	return s.wait(r)
}

func (s *side) isend(n int, match uint64) (mx.Request, error) {
	if s.plan.Sync {
		return s.ep.Issend(s.buf[:n], s.peer, match, nil)
	}
	return s.ep.Isend(s.buf[:n], s.peer, match, nil)
}

// recv receives n bytes into the buffer.
func (s *side) recv(n int, match uint64) error {
	r, err := s.ep.Irecv(s.buf[:n], match, mx.MatchMaskNone, nil)
	if err != nil {
		return err
	}
	return s.wait(r)
}

// wait waits for a request to succeed.
func (s *side) wait(r mx.Request) error {
	err := s.ep.Finish(r, lookAfter)
	if err == nil {
		return nil
	}
	return s.waitOn(r, err)
}

// waitOn is wait when it takes long, or ended badly. A request that it gives up is
// cancelled.
func (s *side) waitOn(r mx.Request, err error) error {
	for errors.Is(err, mx.ErrTimeout) {
		if err = s.look(); err == nil {
			err = s.ep.Finish(r, lookAfter)
		}
	}
	if err != nil {
		_, _ = s.ep.Cancel(r)
	}
	return err
}

// look finds out whether to go on, and whether the peer is still there.
func (s *side) look() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	addr, err := s.ep.Connect(s.nic, s.eid, s.filter, lookAfter)
	switch {
	case errors.Is(err, mx.ErrTimeout):
		return nil // stopped, perhaps, but not gone
	case err != nil:
		return fmt.Errorf("the other side is gone: %w", err)
	case addr != s.peer:
		return fmt.Errorf("the other side, %v, is gone, and another one has taken its place", s.peer)
	}
	return nil
}

// write fills the buffer with the contents of the exchange's message on its way
// out or back.
func (s *side) write(n int, match uint64) { Fill(s.buf[:n], s.seed(match)) }

// read checks that the buffer holds these contents.
func (s *side) read(n int, match uint64) {
	if s.corrupt != nil {
		return
	}
	if err := Verify(s.buf[:n], s.seed(match)); err != nil {
		s.corrupt = fmt.Errorf("exchange %d: %w", s.exchanged, err)
	}
}

func (s *side) seed(match uint64) uint64 {
	if match == matchOut {
		return 2 * s.exchanged
	}
	return 2*s.exchanged + 1
}
