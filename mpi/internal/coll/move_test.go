package coll_test

import (
	"bytes"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"gomx/internal/testlength"
	"gomx/mpi/internal/coll"
)

func fill(b []byte, from, to int) []byte {
	for i := range b {
		b[i] = pattern(from, to, i)
	}
	return b
}

func same(what string, got, want []byte) error {
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s: % x, not % x", what, got[:min(20, len(got))], want[:min(20, len(want))])
	}
	return nil
}

func TestBarrier(t *testing.T) {
	each(t, coll.KindBarrier, func(t *testing.T, size int, a coll.Algorithm) {
		var direct, planned atomic.Int32
		run(t, size, func(m *member) error {
			called := &direct
			if m.planned {
				called = &planned
			}
			for round := range 5 {
				called.Add(1)
				if err := m.do(func(n coll.Net) error { return coll.Barrier(n, a) }); err != nil {
					return err
				}
				if n := called.Load(); int(n) < size*(round+1) {
					return fmt.Errorf("rank %d left barrier %d after %d calls", m.rank, round, n)
				}
			}
			return nil
		})
	})
}

func TestBcast(t *testing.T) {
	testlength.Long(t)
	each(t, coll.KindBcast, func(t *testing.T, size int, a coll.Algorithm) {
		for _, root := range roots(size) {
			sent := fill(make([]byte, 200_000), root, 0)
			run(t, size, func(m *member) error {
				for _, length := range []int{0, 1, 5, 64, 1001, len(sent)} {
					b := make([]byte, length)
					if m.rank == root {
						copy(b, sent)
					}
					if err := m.do(func(n coll.Net) error { return coll.Bcast(n, b, root, a) }); err != nil {
						return err
					}
					if err := same(fmt.Sprintf("rank %d, %d bytes", m.rank, length), b, sent[:length]); err != nil {
						return err
					}
				}
				return nil
			})
		}
	})
}

// gaps fills what no part lies in, to see that it stays as it is.
const gaps = 0xee

// layouts are parts of all ranks in a buffer: alike, and of lengths that differ.
func layouts(size int, f func(p coll.Parts, at func(rank int) (from, to int), length int) error) error {
	const unit = 3
	for _, n := range []int{0, 1, 4, 300} {
		at := func(rank int) (int, int) { return rank * n, (rank + 1) * n }
		if err := f(coll.Equal(n), at, n*size); err != nil {
			return err
		}
	}
	counts, displs, total := counts(size)
	scattered := func(rank int) (int, int) { return displs[rank] * unit, (displs[rank] + counts[rank]) * unit }
	if err := f(coll.Listed(counts, displs, unit), scattered, (total+size)*unit); err != nil {
		return err
	}
	packed := func(rank int) (int, int) {
		return (displs[rank] - rank) * unit, (displs[rank] - rank + counts[rank]) * unit
	}
	return f(coll.Listed(counts, nil, unit), packed, total*unit)
}

func gathered(size, to, length int, at func(rank int) (int, int)) []byte {
	b := bytes.Repeat([]byte{gaps}, length)
	for rank := range size {
		from, until := at(rank)
		fill(b[from:until], rank, to)
	}
	return b
}

func TestGather(t *testing.T) {
	each(t, coll.KindGather, func(t *testing.T, size int, a coll.Algorithm) {
		for _, root := range roots(size) {
			run(t, size, func(m *member) error {
				return layouts(size, func(p coll.Parts, at func(int) (int, int), length int) error {
					from, to := at(m.rank)
					own := fill(make([]byte, to-from), m.rank, 0)
					var all []byte
					if m.rank == root {
						all = bytes.Repeat([]byte{gaps}, length)
					}
					if err := m.do(func(n coll.Net) error { return coll.Gather(n, own, all, p, root, a) }); err != nil || m.rank != root {
						return err
					}
					return same("gathered", all, gathered(size, 0, length, at))
				})
			})
		}
	})
}

func TestScatter(t *testing.T) {
	each(t, coll.KindScatter, func(t *testing.T, size int, a coll.Algorithm) {
		for _, root := range roots(size) {
			run(t, size, func(m *member) error {
				return layouts(size, func(p coll.Parts, at func(int) (int, int), length int) error {
					from, to := at(m.rank)
					own := make([]byte, to-from)
					var all []byte
					if m.rank == root {
						all = gathered(size, 0, length, at)
					}
					if err := m.do(func(n coll.Net) error { return coll.Scatter(n, all, p, own, root, a) }); err != nil {
						return err
					}
					return same("own", own, fill(make([]byte, to-from), m.rank, 0))
				})
			})
		}
	})
}

func TestAllgather(t *testing.T) {
	each(t, coll.KindAllgather, func(t *testing.T, size int, a coll.Algorithm) {
		run(t, size, func(m *member) error {
			return layouts(size, func(p coll.Parts, at func(int) (int, int), length int) error {
				for _, inPlace := range []bool{false, true} {
					from, to := at(m.rank)
					all := bytes.Repeat([]byte{gaps}, length)
					own := make([]byte, to-from)
					if inPlace {
						own = all[from:to]
					}
					fill(own, m.rank, 0)
					if err := m.do(func(n coll.Net) error { return coll.Allgather(n, own, all, p, a) }); err != nil {
						return err
					}
					if err := same(fmt.Sprintf("rank %d, in place %v", m.rank, inPlace), all, gathered(size, 0, length, at)); err != nil {
						return err
					}
				}
				return nil
			})
		})
	})
}

func alltoall(n coll.Net, send []byte, sp coll.Parts, recv []byte, rp coll.Parts, a coll.Algorithm) error {
	return coll.Alltoall(n, send, &sp, recv, &rp, a)
}

func TestAlltoall(t *testing.T) {
	each(t, coll.KindAlltoall, func(t *testing.T, size int, a coll.Algorithm) {
		run(t, size, func(m *member) error {
			for _, n := range []int{0, 1, 8, 500} {
				send, recv := make([]byte, n*size), make([]byte, n*size)
				for rank := range size {
					fill(send[rank*n:(rank+1)*n], m.rank, rank)
				}
				if err := m.do(func(net coll.Net) error { return alltoall(net, send, coll.Equal(n), recv, coll.Equal(n), a) }); err != nil {
					return err
				}
				for rank := range size {
					what := fmt.Sprintf("rank %d of rank %d", m.rank, rank)
					if err := same(what, recv[rank*n:(rank+1)*n], fill(make([]byte, n), rank, m.rank)); err != nil {
						return err
					}
				}
			}
			return alltoallv(m, a)
		})
	})
}

// alltoallv has rank r send (r*3+to)%5 elements to each, with gaps.
func alltoallv(m *member, a coll.Algorithm) error {
	const unit, pitch = 2, 6
	count := func(from, to int) int { return (from*3 + to) % 5 }
	var sendCounts, recvCounts, displs []int
	for rank := range m.size {
		sendCounts, recvCounts = append(sendCounts, count(m.rank, rank)), append(recvCounts, count(rank, m.rank))
		displs = append(displs, rank*pitch)
	}
	send, recv := make([]byte, m.size*pitch*unit), bytes.Repeat([]byte{gaps}, m.size*pitch*unit)
	wanted := slices.Clone(recv)
	for rank := range m.size {
		fill(send[displs[rank]*unit:][:sendCounts[rank]*unit], m.rank, rank)
		fill(wanted[displs[rank]*unit:][:recvCounts[rank]*unit], rank, m.rank)
	}
	err := m.do(func(n coll.Net) error {
		return alltoall(n, send, coll.Listed(sendCounts, displs, unit), recv, coll.Listed(recvCounts, displs, unit), a)
	})
	if err != nil {
		return err
	}
	return same(fmt.Sprintf("rank %d", m.rank), recv, wanted)
}
