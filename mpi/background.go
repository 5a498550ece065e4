package mpi

import (
	"runtime"

	"gomx/mx"
)

// background is a collective that runs in a goroutine of its own. Its request is a receive of
// what the rank tells itself when the collective has ended, so that it may be waited for
// together with others; this is its context. err may be read when the request is complete.
type background struct {
	op  string
	err error
}

// name returns the call that has begun the operation, for messages.
func (q *Request) name() string {
	if q.kind == collectiveRequest {
		return q.collective()
	}
	return opNames[q.kind]
}

// collective returns the call that has begun a collective.
func (q *Request) collective() string {
	if about, err := q.c.seat.ep.Context(q.mx()); err == nil {
		return about.(*background).op
	}
	return opNames[collectiveRequest]
}

// letCollectivesRun offers the processor if one of the requests is a collective's. That runs in a goroutine of its own, which gets none as long
// as ranks test in loops on all processors.
func letCollectivesRun(reqs []Request) {
	for i := range reqs {
		if reqs[i].kind == collectiveRequest {
			runtime.Gosched()
			return
		}
	}
}

// start runs the rest of a collective.
func (n *net) start(run func() error) (Request, error) {
	c, op, ep := n.c, n.op, n.c.seat.ep
	match := bitsOf(inwardContext, 0) | uint64(c.seat.told.Add(1))
	b := &background{op: op}
	r, err := ep.Irecv(nil, match, mx.MatchMaskNone, b)
	if err != nil {
		n.done()
		return Request{}, c.broken(op, Undefined, Undefined, err)
	}
	ep.Share()
	go func() {
		b.err = n.finish(run())
		c.seat.post(nil, c.seat.peers[c.seat.rank].Load(), match) // only the end of the endpoint fails it, and that ends the receive too
	}()
	return c.begun(r, collectiveRequest, 0, Undefined, Undefined), nil
}
