package coll_test

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"gomx/internal/testlength"
	"gomx/mpi/internal/coll"
)

// recorder notes the messages of an operation. Without a member it has no data, and nobody to speak with.
type recorder struct {
	*member
	rank, size int
	log        []string
	before     map[int]bool // unless nil, ranks with messages before Connect
	connected  bool
}

func (r *recorder) Rank() int { return r.rank }
func (r *recorder) Size() int { return r.size }

func (r *recorder) note(what string, b []byte, with int) {
	if r.before != nil && !r.connected {
		r.before[with] = true
	}
	r.log = append(r.log, fmt.Sprintf("%s %d bytes, rank %d", what, len(b), with))
}

func (r *recorder) Send(b []byte, to int) error {
	if r.note("send", b, to); r.member == nil {
		return nil
	}
	return r.member.Send(b, to)
}

func (r *recorder) Isend(b []byte, to int) error { return r.Send(b, to) }

func (r *recorder) Recv(b []byte, from int) error {
	if r.note("receive", b, from); r.member == nil {
		return nil
	}
	return r.member.Recv(b, from)
}

func (r *recorder) Irecv(b []byte, from int) error {
	if r.note("receive", b, from); r.member == nil {
		return nil
	}
	return r.member.Irecv(b, from)
}

func (r *recorder) Sendrecv(send []byte, to int, recv []byte, from int) error {
	if err := r.Send(send, to); err != nil {
		return err
	}
	return r.Recv(recv, from)
}

func (r *recorder) WaitAll() error {
	if r.member == nil {
		return nil
	}
	return r.member.WaitAll()
}

func (r *recorder) Connect()             { r.connected = true }
func (r *recorder) Scratch(n int) []byte { return make([]byte, n) }

// elements is what a rank contributes to the operations of these tests.
const elements = 1500

// operations are calls of all kinds.
var operations = map[coll.Kind]func(n coll.Net, rank int, op func(acc, in []span), inPlace bool, a coll.Algorithm) error{
	coll.KindBarrier: func(n coll.Net, _ int, _ func(acc, in []span), _ bool, a coll.Algorithm) error {
		return coll.Barrier(n, a)
	},
	coll.KindBcast: func(n coll.Net, _ int, _ func(acc, in []span), _ bool, a coll.Algorithm) error {
		return coll.Bcast(n, make([]byte, 200_000), n.Size()/2, a)
	},
	coll.KindReduce: func(n coll.Net, rank int, op func(acc, in []span), inPlace bool, a coll.Algorithm) error {
		in, out := buffers(rank, elements, inPlace)
		return coll.Reduce(n, in, out, n.Size()/2, op, a)
	},
	coll.KindAllreduce: func(n coll.Net, rank int, op func(acc, in []span), inPlace bool, a coll.Algorithm) error {
		in, out := buffers(rank, elements, inPlace)
		return coll.Allreduce(n, in, out, op, a)
	},
	coll.KindScan: func(n coll.Net, rank int, op func(acc, in []span), inPlace bool, a coll.Algorithm) error {
		in, out := buffers(rank, elements, inPlace)
		return coll.Scan(n, in, out, op, a)
	},
	coll.KindExscan: func(n coll.Net, rank int, op func(acc, in []span), inPlace bool, a coll.Algorithm) error {
		in, out := buffers(rank, elements, inPlace)
		return coll.Exscan(n, in, out, op, a)
	},
	coll.KindReduceScatter: func(n coll.Net, rank int, op func(acc, in []span), _ bool, a coll.Algorithm) error {
		in, _ := buffers(rank, elements*n.Size(), false)
		return coll.ReduceScatter(n, in, make([]span, elements), coll.Equal(elements*8), op, a)
	},
	coll.KindGather: func(n coll.Net, _ int, _ func(acc, in []span), _ bool, a coll.Algorithm) error {
		return coll.Gather(n, make([]byte, elements), make([]byte, elements*n.Size()), coll.Equal(elements), n.Size()/2, a)
	},
	coll.KindScatter: func(n coll.Net, _ int, _ func(acc, in []span), _ bool, a coll.Algorithm) error {
		return coll.Scatter(n, make([]byte, elements*n.Size()), coll.Equal(elements), make([]byte, elements), n.Size()/2, a)
	},
	coll.KindAllgather: func(n coll.Net, _ int, _ func(acc, in []span), _ bool, a coll.Algorithm) error {
		if a == coll.RecursiveDoubling && n.Size()&(n.Size()-1) != 0 {
			return nil
		}
		return coll.Allgather(n, make([]byte, elements), make([]byte, elements*n.Size()), coll.Equal(elements), a)
	},
	coll.KindAlltoall: func(n coll.Net, _ int, _ func(acc, in []span), _ bool, a coll.Algorithm) error {
		all := elements * n.Size()
		return alltoall(n, make([]byte, all), coll.Equal(elements), make([]byte, all), coll.Equal(elements), a)
	},
}

// TestMessagesDontDependOnData: an operation has the same messages without data, and in other memory, at each rank.
func TestMessagesDontDependOnData(t *testing.T) {
	testlength.Long(t)
	none := func(_, _ []span) {}
	for kind, operation := range operations {
		each(t, kind, func(t *testing.T, size int, a coll.Algorithm) {
			run(t, size, func(m *member) error {
				with := &recorder{member: m, rank: m.rank, size: size}
				if err := operation(with, m.rank, join, true, a); err != nil {
					return err
				}
				without := &recorder{rank: m.rank, size: size}
				if err := operation(without, 0, none, false, a); err != nil {
					return err
				}
				if !slices.Equal(with.log, without.log) {
					return fmt.Errorf("rank %d: with data %q, without %q", m.rank, with.log, without.log)
				}
				return nil
			})
		})
	}
}

// TestConnectsBeforehand: at a rank that has messages for all others, or from them, the connections can be made together. Few may be made
// one after the other, as those of a tree.
func TestConnectsBeforehand(t *testing.T) {
	none := func(_, _ []span) {}
	for kind, operation := range operations {
		for _, a := range coll.Offered(kind) {
			for _, size := range []int{16, 64} {
				for rank := range size {
					r := &recorder{rank: rank, size: size, before: map[int]bool{}}
					if err := operation(r, 0, none, false, a); err != nil {
						t.Fatal(err)
					}
					if most := 2*bits.Len(uint(size)) + 1; len(r.before) > most {
						t.Errorf("%v by %v: rank %d of %d connects with %d ranks one by one", kind, a, rank, size, len(r.before))
					}
				}
			}
		}
	}
}

// buffers are a contribution, and room for the result, which is the same memory in place.
func buffers(rank, count int, inPlace bool) (in, out []span) {
	in = spans(rank, count)
	if inPlace {
		return in, in
	}
	return in, make([]span, count)
}
