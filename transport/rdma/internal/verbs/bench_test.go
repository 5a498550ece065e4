//go:build linux && cgo

package verbs_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"gomx/transport/rdma/internal/verbs"
)

// BenchmarkPingPong sends 8 bytes there and back. The other end is a goroutine that
// polls, too.
func BenchmarkPingPong(b *testing.B) {
	p := newPair(b)
	near := &player{end: p.a, mem: p.register(make([]byte, 64), verbs.LocalWrite)}
	far := &player{end: p.b, mem: p.register(make([]byte, 64), verbs.LocalWrite)}
	near.receive()
	far.receive()
	var stop atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for far.await(&stop) {
			far.receive()
			far.send()
		}
	}()
	for b.Loop() {
		near.send()
		near.await(nil)
		near.receive()
	}
	stop.Store(true)
	<-ended
	for _, p := range []*player{near, far} {
		if p.failed != nil {
			b.Error(p.failed)
		}
	}
}

// player is one side of a ping-pong.
type player struct {
	*end
	mem    *verbs.Region
	sent   int
	failed error
}

func (p *player) receive() {
	p.receives.Add(1, p.mem.Piece(0, 8))
	if _, err := p.inbox.Post(p.receives); err != nil {
		p.failed = err
	}
}

// send asks for a completion now and then: it frees the places of those before.
func (p *player) send() {
	f := verbs.Inline
	if p.sent++; p.sent%(depth/4) == 0 {
		f |= verbs.Signaled
	}
	p.sends.Send(2, f, p.mem.Piece(8, 8))
	if _, err := p.qp.Post(p.sends); err != nil {
		p.failed = err
	}
}

// await polls until a message has come. It gives up on failure, and when it is to stop.
func (p *player) await(stop *atomic.Bool) bool {
	for p.failed == nil && (stop == nil || !stop.Load()) {
		done, err := p.queue.Poll()
		p.failed = err
		got := false
		for _, c := range done {
			if c.Status != verbs.Success {
				p.failed = c.Status
			}
			got = got || c.Kind == verbs.Received
		}
		if got {
			return p.failed == nil
		}
	}
	return false
}

// BenchmarkPoll polls a queue that is empty: the cost of crossing into C.
func BenchmarkPoll(b *testing.B) {
	p := newPair(b)
	for b.Loop() {
		if done, err := p.a.queue.Poll(); len(done) > 0 || err != nil {
			b.Fatal(done, err)
		}
	}
}

// BenchmarkRegister opens memory for one operation, beside the copy that a bounce
// pool would make instead.
func BenchmarkRegister(b *testing.B) {
	for _, size := range []int{4 << 10, 64 << 10, 1 << 20} {
		mem, bounce := make([]byte, size), make([]byte, size)
		b.Run(fmt.Sprintf("register/%d", size), func(b *testing.B) {
			p := openDevice(b)
			for b.Loop() {
				r, err := p.domain.Register(mem, verbs.LocalWrite)
				if err != nil {
					b.Fatal(err)
				}
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(size))
		})
		b.Run(fmt.Sprintf("copy/%d", size), func(b *testing.B) {
			for b.Loop() {
				copy(bounce, mem)
			}
			b.SetBytes(int64(size))
		})
	}
}
