package main

import (
	"fmt"
	"strconv"
	"strings"

	"gomx/mpi"
)

// call is what is measured: an operation with bytes, of a rank's part where there are parts.
type call struct {
	name  string
	bytes int
}

// String is the call as in -calls.
func (c call) String() string { return fmt.Sprintf("%s:%d", c.name, c.bytes) }

// most is the longest part, bytes.
const most = 1 << 28

// operation is something to measure. from and to have room for what all ranks have.
type operation struct {
	name string
	run  func(m *meter, bytes int) error
}

var operations = []operation{
	{"pingpong", (*meter).pingpong},
	{"exchange", (*meter).exchange},
	{"barrier", func(m *meter, _ int) error { return m.world.Barrier() }},
	{"bcast", func(m *meter, n int) error { return mpi.Bcast(m.world, m.from[:n], 0) }},
	{"reduce", func(m *meter, n int) error {
		return mpi.Reduce(m.world, m.numbersFrom[:n/8], m.numbersTo[:n/8], mpi.Sum, 0)
	}},
	{"allreduce", func(m *meter, n int) error {
		return mpi.Allreduce(m.world, m.numbersFrom[:n/8], m.numbersTo[:n/8], mpi.Sum)
	}},
	{"allgather", func(m *meter, n int) error { return mpi.Allgather(m.world, m.from[:n], m.to[:n*m.world.Size()]) }},
	{"alltoall", func(m *meter, n int) error {
		return mpi.Alltoall(m.world, m.from[:n*m.world.Size()], m.to[:n*m.world.Size()])
	}},
}

func names() string {
	var all []string
	for _, o := range operations {
		all = append(all, o.name)
	}
	return strings.Join(all, ", ")
}

func find(name string) (operation, bool) {
	for _, o := range operations {
		if o.name == name {
			return o, true
		}
	}
	return operation{}, false
}

// pingpong is half a round trip of ranks 0 and 1: one way in every other call.
func (m *meter) pingpong(n int) error {
	m.turn ^= 1
	rank := m.world.Rank()
	switch {
	case rank == m.turn:
		return mpi.Send(m.world, m.from[:n], 1-rank, 1)
	case rank < 2 && m.world.Size() > 1:
		_, err := mpi.Recv(m.world, m.from[:n], 1-rank, 1)
		return err
	}
	return nil
}

// exchange is a message each way between neighbours, 0 and 1 the first, at the same time.
func (m *meter) exchange(n int) error {
	with := m.world.Rank() ^ 1
	if with == m.world.Size() {
		return nil
	}
	if err := mpi.Send(m.world, m.from[:n], with, 1); err != nil {
		return err
	}
	_, err := mpi.Recv(m.world, m.to[:n], with, 1)
	return err
}

func parseCalls(list string) (calls []call, err error) {
	for entry := range strings.SplitSeq(list, ",") {
		name, length, _ := strings.Cut(strings.TrimSpace(entry), ":")
		bytes, err := strconv.Atoi(length)
		if err != nil || bytes < 0 || bytes > most {
			return nil, fmt.Errorf("%q is not a call with its bytes, as in allreduce:8", entry)
		}
		if _, found := find(name); !found {
			return nil, fmt.Errorf("there is no call %q; there are %s", name, names())
		}
		calls = append(calls, call{name, bytes})
	}
	return calls, nil
}

func parseCores(list string) (cores []int, err error) {
	if list == "" {
		return nil, nil
	}
	for word := range strings.SplitSeq(list, ",") {
		core, err := strconv.ParseUint(strings.TrimSpace(word), 10, 16)
		if err != nil {
			return nil, fmt.Errorf("%q is not a core number", word)
		}
		cores = append(cores, int(core))
	}
	return cores, nil
}
