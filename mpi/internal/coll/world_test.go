package coll_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"gomx/mpi/internal/coll"
)

// sizes are the numbers of ranks that tests run with.
var sizes = []int{1, 2, 3, 4, 5, 6, 7, 8, 13, 16, 17}

// roots are the ranks that are the root in turn.
func roots(size int) []int {
	return slices.Compact([]int{0, min(1, size-1), size / 2, size - 1})
}

// world joins ranks that are goroutines.
type world struct {
	size  int
	pipes []chan []byte // from*size + to
}

// member is a rank of a world, and the Net of the operations that it does.
type member struct {
	*world
	rank    int
	recvs   []posted
	planned bool // operations are planned first
}

// do does an operation, in one of the two ways.
func (m *member) do(operation func(n coll.Net) error) error {
	if !m.planned {
		return operation(m)
	}
	p := coll.Plan{Net: m}
	if err := operation(&p); err != nil {
		return err
	}
	return p.Run(m)
}

type posted struct {
	b    []byte
	from int
}

func (m *member) Rank() int { return m.rank }
func (m *member) Size() int { return m.size }
func (m *member) Connect()  {}

func (m *member) Send(b []byte, to int) error {
	if to == m.rank || to < 0 || to >= m.size {
		return fmt.Errorf("rank %d sends to %d", m.rank, to)
	}
	m.pipes[m.rank*m.size+to] <- slices.Clone(b)
	return nil
}

func (m *member) Recv(b []byte, from int) error {
	if from == m.rank || from < 0 || from >= m.size {
		return fmt.Errorf("rank %d receives from %d", m.rank, from)
	}
	select {
	case got := <-m.pipes[from*m.size+m.rank]:
		if len(got) != len(b) {
			return fmt.Errorf("rank %d got %d bytes of rank %d, not %d", m.rank, len(got), from, len(b))
		}
		copy(b, got)
		return nil
	case <-time.After(20 * time.Second):
		return fmt.Errorf("rank %d got nothing of rank %d", m.rank, from)
	}
}

func (m *member) Sendrecv(send []byte, to int, recv []byte, from int) error {
	return errors.Join(m.Send(send, to), m.Recv(recv, from))
}

func (m *member) Isend(b []byte, to int) error { return m.Send(b, to) }

func (m *member) Irecv(b []byte, from int) error {
	m.recvs = append(m.recvs, posted{b, from})
	return nil
}

func (m *member) WaitAll() (err error) {
	for _, r := range m.recvs {
		err = errors.Join(err, m.Recv(r.b, r.from))
	}
	m.recvs = m.recvs[:0]
	return err
}

// Scratch is full of what nobody should use.
func (m *member) Scratch(n int) []byte {
	return bytes.Repeat([]byte{0xa5}, n)
}

// run has every rank of a world do f, and looks that no message is left. Then they do it again with plans.
func run(t *testing.T, size int, f func(m *member) error) {
	t.Helper()
	for _, planned := range []bool{false, true} {
		runOnce(t, size, planned, f)
	}
}

func runOnce(t *testing.T, size int, planned bool, f func(m *member) error) {
	t.Helper()
	w := &world{size: size, pipes: make([]chan []byte, size*size)}
	for i := range w.pipes {
		w.pipes[i] = make(chan []byte, 40)
	}
	errs := make([]error, size)
	var all sync.WaitGroup
	for rank := range size {
		all.Go(func() { errs[rank] = f(&member{world: w, rank: rank, planned: planned}) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i, p := range w.pipes {
		if len(p) > 0 {
			t.Fatalf("%d messages of rank %d to rank %d are left", len(p), i/size, i%size)
		}
	}
}

// each runs a test for every number of ranks with every algorithm of a kind.
func each(t *testing.T, k coll.Kind, f func(t *testing.T, size int, a coll.Algorithm)) {
	for _, a := range coll.Offered(k) {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%v/%d", a, size), func(t *testing.T) { f(t, size, a) })
		}
	}
}

// span is the ranks from first to last, or a mark that it was combined out of order.
// Combining is associative, and not commutative.
type span struct{ First, Last int32 }

func contribution(rank int) span { return span{int32(rank), int32(rank)} }

var wrong = span{-1, -1}

func join(acc, in []span) {
	for i := range acc {
		if acc[i] != wrong && in[i] != wrong && acc[i].Last+1 == in[i].First {
			acc[i].Last = in[i].Last
		} else {
			acc[i] = wrong
		}
	}
}

func spans(rank, count int) []span {
	return slices.Repeat([]span{contribution(rank)}, count)
}

// counts are lengths that differ, and are 0 for some.
func counts(size int) (counts, displs []int, total int) {
	for rank := range size {
		n := (rank*5 + 3) % 7
		displs = append(displs, total+rank) // with a gap before each
		counts = append(counts, n)
		total += n
	}
	return counts, displs, total
}

func pattern(from, to, i int) byte { return byte(from*31 + to*7 + i + 1) }
