package mpi

import (
	"context"
	"sync/atomic"
	"time"

	"gomx/mx"
)

// seat is the place of a rank in its job: an endpoint, and the way to the others.
type seat struct {
	job   *job
	rank  int // in the world
	ep    *mx.Endpoint
	peers []atomic.Pointer[peer] // by rank in the world; nil until one is needed

	told      atomic.Uint32 // requests that the rank completes by telling itself
	finalized atomic.Bool
}

// peer is another rank that the seat is connected with.
type peer struct{ addr mx.EndpointAddr }

// connectBound is how long a rank may take to answer a connect. Its endpoint answers while
// the rank computes.
const connectBound = 30 * time.Second

// sit opens the endpoint of a rank.
func sit(j *job, rank int, filter uint32) (*seat, error) {
	ep, err := j.open(filter)
	if err != nil {
		return nil, err
	}
	s := &seat{job: j, rank: rank, ep: ep, peers: make([]atomic.Pointer[peer], j.size)}
	s.peers[rank].Store(&peer{ep.Addr()})
	return s, nil
}

// reach returns the peer of a rank of the world, and connects with it first if
// that was not done before. What several goroutines make at once is the same.
func (s *seat) reach(ctx context.Context, rank int) (*peer, error) {
	if p := s.peers[rank].Load(); p != nil {
		return p, nil
	}
	addr, err := s.job.cards[rank].connect(ctx, s.ep)
	if err != nil {
		return nil, err
	}
	p := &peer{addr}
	s.peers[rank].Store(p)
	return p, nil
}
