//go:build linux && cgo

package verbs_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"gomx/transport/rdma/internal/gather"
	"gomx/transport/rdma/internal/verbs"
)

// TestReadLists reads lists that are cut differently on both sides, in more
// requests than the QP takes at once.
func TestReadLists(t *testing.T) {
	b := newPair(t)
	const size = 100_000
	far := b.register(make([]byte, size), verbs.RemoteRead)
	near := b.register(make([]byte, size), verbs.LocalWrite)
	r := rand.New(rand.NewPCG(4, 2))
	for round, most := range []uint32{0, 1000, 0} {
		content(far.Bytes(), byte(round))
		clear(near.Bytes())
		var segments []gather.Segment
		var want []byte
		for _, c := range cuts(r, size, 3+round*40) {
			segments = append(segments, gather.Segment{Addr: far.Addr() + uint64(c.off), Length: uint32(c.n), Key: far.RemoteKey()})
			want = append(want, far.Bytes()[c.off:c.off+c.n]...)
		}
		var into []verbs.Piece
		into2 := cuts(r, size, 40+round)
		for _, c := range into2 {
			into = append(into, near.Piece(c.off, c.n))
		}
		segments, n, err := gather.ParseDescriptor(nil, gather.AppendDescriptor(nil, segments...))
		check(t, err)
		var c gather.Cutter
		c.Start(segments, into, n, pieces, most)
		reads := b.a.readAll(&c)
		var got []byte
		for _, c := range into2 {
			got = append(got, near.Bytes()[c.off:c.off+c.n]...)
		}
		if n != size || !bytes.Equal(got, want) {
			t.Errorf("round %d: %d reads brought other bytes", round, reads)
		}
	}
}

// readAll posts all reads, and returns how many there were.
func (e *end) readAll(c *gather.Cutter) (reads int) {
	var scratch [pieces]verbs.Piece
	for !c.Done() {
		var ids []uint64
		for ; !c.Done() && !e.sends.Full(); reads++ {
			r := c.Next(scratch[:0])
			e.sends.Read(uint64(reads), verbs.Signaled, r.From, r.Key, r.Into...)
			ids = append(ids, uint64(reads))
		}
		e.post()
		e.awaitDone(verbs.Read, ids...)
	}
	return reads
}

type cut struct{ off, n int }

// cuts cuts size bytes into that many parts, in random order.
func cuts(r *rand.Rand, size, parts int) (all []cut) {
	for i := range parts {
		from, to := i*size/parts, (i+1)*size/parts
		all = append(all, cut{from, to - from})
	}
	r.Shuffle(parts, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}
