package unexpected_test

import (
	"bytes"
	"slices"
	"testing"

	"gomx/match"
	"gomx/unexpected"
)

// twin is the store as one would write it on a blackboard: messages in order of
// arrival, searched from the front.
type twin struct{ waiting, claimed []twinMessage }

type twinMessage struct {
	id    int32
	match uint64
	peer  int32
	size  int
	stamp byte
}

func (t *twin) find(value, mask uint64) (int32, bool) {
	for _, m := range t.waiting {
		if m.match&mask == value {
			return m.id, true
		}
	}
	return 0, false
}

func (t *twin) at(id int32) int {
	return slices.IndexFunc(t.waiting, func(m twinMessage) bool { return m.id == id })
}

// footprint is what the documentation says a message counts for.
func footprint(size int) int {
	switch {
	case size == 0:
		return unexpected.Overhead
	case size > 64<<10:
		return unexpected.Overhead + (size+8191)/8192*8192
	}
	buffer := 64
	for buffer < size {
		buffer *= 2
	}
	return unexpected.Overhead + buffer
}

func (t *twin) bytes() (n int) {
	for _, m := range slices.Concat(t.waiting, t.claimed) {
		n += footprint(m.size)
	}
	return n
}

// pair runs the store and its twin side by side.
type pair struct {
	testing.TB
	store *unexpected.Store
	twin  twin
	stamp byte
	limit int
}

func newPair(t testing.TB, limit int) *pair {
	return &pair{TB: t, store: unexpected.New(limit), limit: limit}
}

// add stores a message, unless the ones that are stored would have more than the limit
// then, which is for the caller of the store to see to.
func (p *pair) add(value uint64, peer int32, size int) bool {
	p.Helper()
	if len(p.twin.waiting)+len(p.twin.claimed) > 0 && p.twin.bytes()+footprint(size) > p.limit {
		return false
	}
	id := p.store.Add(unexpected.Message{Match: value, Peer: peer, Length: uint32(size)}, size)
	p.stamp++
	at := p.store.At(id)
	if len(at.Data) != size || p.twin.at(id) >= 0 || p.store.Claimed(id) {
		p.Fatalf("id %d with %d bytes, want a new one with %d", id, len(at.Data), size)
	}
	for i := range at.Data {
		at.Data[i] = p.stamp
	}
	p.twin.waiting = append(p.twin.waiting, twinMessage{id, value, peer, size, p.stamp})
	return true
}

func (p *pair) find(value, mask uint64) (int32, bool) {
	p.Helper()
	got, ok := p.store.Find(value, mask)
	want, wantOK := p.twin.find(value, mask)
	if ok != wantOK || ok && got != want {
		p.Fatalf("Find(%#x, %#x) = %d, %v; want %d, %v", value, mask, got, ok, want, wantOK)
	}
	return got, ok
}

func (p *pair) receive(value, mask uint64) {
	p.Helper()
	if id, ok := p.find(value, mask); ok {
		p.remove(id)
	}
}

// claim claims what a receive would get.
func (p *pair) claim(value, mask uint64) {
	p.Helper()
	id, ok := p.find(value, mask)
	if got := p.store.Claim(id); got != ok || p.store.Claim(id) {
		p.Fatalf("Claim(%d) = %v, and then true", id, got)
	}
	if i := p.twin.at(id); ok {
		p.twin.claimed = append(p.twin.claimed, p.twin.waiting[i])
		p.twin.waiting = slices.Delete(p.twin.waiting, i, i+1)
	}
}

// redeem removes one of the claimed messages.
func (p *pair) redeem(which int) {
	p.Helper()
	if n := len(p.twin.claimed); n > 0 {
		m := p.twin.claimed[which%n]
		if !p.store.Claimed(m.id) {
			p.Fatalf("message %d is not claimed", m.id)
		}
		p.remove(m.id)
		if p.store.Claimed(m.id) {
			p.Fatalf("message %d is removed, and claimed", m.id)
		}
	}
}

func (p *pair) remove(id int32) {
	p.Helper()
	if i := slices.IndexFunc(p.twin.claimed, func(m twinMessage) bool { return m.id == id }); i >= 0 {
		p.intact(p.twin.claimed[i])
		p.twin.claimed = slices.Delete(p.twin.claimed, i, i+1)
	}
	if i := p.twin.at(id); i >= 0 {
		p.intact(p.twin.waiting[i])
		p.twin.waiting = slices.Delete(p.twin.waiting, i, i+1)
	}
	p.store.Remove(id)
}

func (p *pair) removePeer(peer int32) {
	p.Helper()
	var got, want []int32
	for _, m := range p.twin.waiting {
		if m.peer == peer {
			want = append(want, m.id)
		}
	}
	for _, m := range slices.Backward(p.twin.claimed) {
		if m.peer == peer {
			want = append(want, m.id)
		}
	}
	p.store.RemovePeer(peer, func(id int32) { got = append(got, id) })
	if !slices.Equal(got, want) {
		p.Fatalf("RemovePeer(%d) removed %v, want %v", peer, got, want)
	}
	of := func(m twinMessage) bool { return m.peer == peer }
	p.twin.waiting, p.twin.claimed = slices.DeleteFunc(p.twin.waiting, of), slices.DeleteFunc(p.twin.claimed, of)
}

func (p *pair) setLimit(limit int) {
	p.limit = limit
	p.store.SetLimit(limit)
}

// intact says that nobody else has written into the message's buffer.
func (p *pair) intact(m twinMessage) {
	p.Helper()
	at := p.store.At(m.id)
	if at.Match != m.match || at.Peer != m.peer || int(at.Length) != m.size ||
		!bytes.Equal(at.Data, bytes.Repeat([]byte{m.stamp}, m.size)) {
		p.Fatalf("message %d is %+v, want %+v", m.id, *at, m)
	}
}

// check compares the whole content in order.
func (p *pair) check() {
	p.Helper()
	if err := unexpected.Check(p.store); err != nil {
		p.Fatal(err)
	}
	id, ok := p.store.First()
	for _, m := range p.twin.waiting {
		if !ok || id != m.id {
			p.Fatalf("walk gives %d, %v; want %d", id, ok, m.id)
		}
		p.intact(m)
		id, ok = p.store.Next(id)
	}
	if ok {
		p.Fatalf("walk goes on to %d", id)
	}
	for _, m := range p.twin.claimed {
		p.intact(m)
	}
	s := p.store.Stats()
	if s.Depth != len(p.twin.waiting) || s.Claimed != len(p.twin.claimed) || s.Bytes != p.twin.bytes() || s.Limit != p.limit || s.PeakBytes < s.Bytes {
		p.Fatalf("Stats() = %+v; want depth %d, %d bytes of %d", s, len(p.twin.waiting), p.twin.bytes(), p.limit)
	}
}

// drain removes everything by exact match and expects nothing to stay.
func (p *pair) drain() {
	p.Helper()
	for len(p.twin.waiting) > 0 {
		p.receive(p.twin.waiting[len(p.twin.waiting)-1].match, match.MaskNone)
	}
	for len(p.twin.claimed) > 0 {
		p.redeem(0)
	}
	p.check()
	if s := p.store.Stats(); s.Bytes != 0 || s.Depth != 0 {
		p.Fatalf("empty store has %+v", s)
	}
}
