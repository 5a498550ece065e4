package mem

import (
	"math/rand/v2"
	"time"

	"gomx/transport"
	"gomx/transport/wire"
)

// Latency draws how long something takes.
type Latency func(*rand.Rand) time.Duration

// Fixed takes always d.
func Fixed(d time.Duration) Latency { return func(*rand.Rand) time.Duration { return d } }

// Uniform takes between least and most, each as likely as the other.
func Uniform(least, most time.Duration) Latency {
	return func(r *rand.Rand) time.Duration { return least + time.Duration(r.Int64N(int64(most-least)+1)) }
}

// Exponential takes at least least, and more than that by mean on average: many
// are quick, few are slow.
func Exponential(least, mean time.Duration) Latency {
	return func(r *rand.Rand) time.Duration { return least + time.Duration(r.ExpFloat64()*float64(mean)) }
}

// HeavyTail takes at least least. One in a hundred takes ten times as long as usual, one in
// ten thousand a hundred times, and so on until most.
func HeavyTail(least, most time.Duration) Latency {
	return func(r *rand.Rand) time.Duration {
		d := float64(least)
		for d < float64(most) && r.IntN(100) == 0 {
			d *= 10
		}
		d += r.Float64() * d
		return min(time.Duration(d), most)
	}
}

// SimEvent is what Observe is called with.
type SimEvent struct {
	At       time.Duration
	What     string
	From, To transport.Address
	Header   *wire.Header // of a frame, or nil; valid until Observe returns
}

const (
	simHashStart = 0xcbf29ce484222325
	simHashPrime = 0x100000001b3
)

// note makes something part of the history. The words what are few.
func (s *Sim) note(what string, from, to transport.Address, h *wire.Header) {
	x := s.history.Hash
	x = (x ^ uint64(s.now)) * simHashPrime
	x = (x ^ uint64(what[0]) ^ uint64(len(what))<<8 ^ uint64(from.Endpoint)<<40 ^ uint64(to.Endpoint)<<20) * simHashPrime
	x = (x ^ from.NIC ^ to.NIC<<24) * simHashPrime
	if h != nil {
		x = (x ^ h.Word0(0)) * simHashPrime
		x = (x ^ h.Match) * simHashPrime
		x = (x ^ h.Word2()) * simHashPrime
		x = (x ^ h.ID ^ uint64(h.Offset)<<32 ^ uint64(h.Ack)) * simHashPrime
	}
	s.history.Hash = x ^ x>>29
	if s.opt.Observe != nil {
		s.opt.Observe(&SimEvent{s.now, what, from, to, h})
	}
}

// copies returns how often a datagram arrives.
func (s *Sim) copies() int {
	if s.opt.Medium != Datagrams || s.opt.Loss == 0 && s.opt.Duplicate == 0 {
		return 1
	}
	x := s.rng.Float64()
	switch {
	case x < s.opt.Loss:
		return 0
	case x < s.opt.Loss+s.opt.Duplicate*(1-s.opt.Loss):
		return 2
	}
	return 1
}
