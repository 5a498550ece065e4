//go:build linux && cgo

package rdma

import (
	"fmt"
	"sync"
	"sync/atomic"

	"gomx/transport"
	"gomx/transport/rdma/internal/slots"
	"gomx/transport/rdma/internal/verbs"
)

// receives is the memory that messages of all peers come into. Every peer
// is granted credits, one for each message that it may send, and there are as many
// slots as granted credits, and a few more. The memory grows with the number of peers.
type receives struct {
	pools [maxPools]atomic.Pointer[slots.Pool] // the count-th and those after it are nil

	mu      sync.Mutex
	count   int // pools
	slots   int // in all pools
	granted int
}

const (
	maxPools   = 64
	poolShift  = 24      // of the pool's number in the id of a receive
	receiveBit = 1 << 63 // in the ids of receives, to tell them from those of sends
	spare      = 8       // slots that may be on their way back to the queue
	controls   = 2       // messages of a peer that may come without credit

	// A new peer gets a part of what is left of the plenty; once that is gone, the
	// least that there is.
	plenty    = mostReceives / 2
	fairShare = 16
)

// slot is the memory of one message, by its number.
type slot uint32

func (s slot) split() (pool, index uint32) {
	return uint32(s) >> poolShift, uint32(s) & (1<<poolShift - 1)
}

// bytes returns the memory of a slot.
func (r *receives) bytes(s slot) []byte {
	pool, index := s.split()
	return r.pools[pool].Load().Bytes(index)
}

func (r *receives) piece(s slot) verbs.Piece {
	pool, index := s.split()
	return r.pools[pool].Load().Piece(index, SlotSize)
}

// grow adds a pool and posts all its slots. With less memory than that it makes
// do, if it is enough for one peer.
func (r *receives) grow(p *port, count int) error {
	if r.count == maxPools {
		return fmt.Errorf("%w: %d pools of receives are in use", transport.ErrUnsupported, maxPools)
	}
	pool, err := slots.New(p.domain, verbs.LocalWrite, min(count, p.maxReceives-r.slots), SlotSize, LeastSlots)
	if err != nil {
		return err
	}
	number := r.count
	r.pools[number].Store(pool)
	r.count++
	r.slots += pool.Count()
	list := verbs.NewReceives(batch)
	defer list.Free()
	for i := range pool.Count() {
		s := slot(number<<poolShift | i)
		list.Add(receiveBit|uint64(s), r.piece(s))
		if list.Full() || i == pool.Count()-1 {
			if _, err := p.inbox.Post(list); err != nil {
				return err
			}
		}
	}
	return nil
}

// grant returns how many credits a new peer gets.
func (r *receives) grant(p *port) (credits int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	room := min(plenty, p.maxReceives) - spare - r.granted
	credits = min(p.opt.Credits, max(LeastCredits, room/fairShare))
	for r.granted+credits+controls+spare > r.slots {
		if r.slots >= p.maxReceives {
			err = fmt.Errorf("%w: %s has receives for no more peers: %d credits are granted", transport.ErrUnsupported,
				p.at.port.Device, r.granted)
		} else {
			err = r.grow(p, p.opt.Slots)
		}
		if err == nil {
			continue
		}
		if left := r.slots - spare - controls - r.granted; left >= LeastCredits {
			credits = left // a peer that is slower is better than none
			break
		}
		return 0, err
	}
	r.granted += credits + controls
	return credits, nil
}

// release takes back the credits granted to a peer that is gone.
func (r *receives) release(credits int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.granted -= credits + controls
}

func (r *receives) close() error {
	for i := range r.count {
		if err := r.pools[i].Load().Close(); err != nil {
			return err
		}
	}
	return nil
}

// recycle has a slot take another message. Some are collected, so that one crossing
// into C posts them; there are that many more slots than granted credits.
func (p *port) recycle(s slot) {
	p.repost.Add(receiveBit|uint64(s), p.in.piece(s))
	if p.repost.Full() {
		if _, err := p.inbox.Post(p.repost); err != nil {
			p.fail(err)
		}
	}
}
