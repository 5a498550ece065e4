//go:build linux

package mpi_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
	"gomx/mpi"
)

var hurryFor = flag.Duration("mpi.hurry", 3*time.Second, "how long TestRandomDeadlines goes on over each transport")

const hurryRanks = 4

// TestRandomDeadlines has ranks call what blocks in the same random order, each call with a deadline of its rank's own, while
// one rank after the other is stopped and goes on. Whatever a call that has succeeded returns is right, and in the end
// nothing is left.
func TestRandomDeadlines(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	overEach(t, func(t *testing.T, medium string) {
		t.Parallel()
		options := byHand(t, hurryRanks, medium)
		seed := rand.Uint32()
		t.Logf("seed %d", seed)
		var all []*proc.Process
		for rank := range hurryRanks {
			o := options(rank)
			o.Life = *hurryFor + time.Minute
			all = append(all, proc.StartWith(t, o, "hurried", seed))
		}
		stopInTurn(all, *hurryFor)
		for _, p := range all {
			p.Say("enough")
		}
		for _, p := range all {
			t.Log(p.Hear("done"))
			if err := p.Wait(); err != nil {
				t.Error(err)
			}
		}
	})
}

// stopInTurn stops a process at random, and lets it go on.
func stopInTurn(all []*proc.Process, d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		p := all[rand.IntN(len(all))]
		p.Signal(syscall.SIGSTOP)
		time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
		p.Signal(syscall.SIGCONT)
		time.Sleep(time.Duration(rand.IntN(50)) * time.Millisecond)
	}
}

// hurry is a rank whose calls have deadlines.
type hurry struct {
	world, c *mpi.Comm
	win      *mpi.Win[int64]
	ctx      context.Context // of the call
	common   *rand.Rand      // the same on all ranks
	own      *rand.Rand

	call, right, late int
	heap              uint64 // at the end, bytes
}

func hurried(c *proc.Child) {
	h := &hurry{}
	if err := h.run(c); err != nil {
		c.Fail(fmt.Errorf("call %d: %w", h.call, err))
	}
	c.Say("done: %d calls, %d in time, %d not, %d KiB in use", h.call, h.right, h.late, h.heap>>10)
}

func (h *hurry) run(c *proc.Child) (err error) {
	if h.world, err = mpi.Init(); err != nil {
		return err
	}
	seed := uint64(c.Number(0))
	h.common, h.own = rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, uint64(h.world.Rank()+1)))
	enough := make(chan struct{})
	go func() { c.Hear(); close(enough) }()
	if err := h.epoch(); err != nil { // everybody knows everybody
		return err
	}
	goroutines, memory := runtime.NumGoroutine(), heap()
	for more := int64(1); more > 0; {
		if err := h.epoch(); err != nil {
			return err
		}
		mine := []int64{1}
		select {
		case <-enough:
			mine[0] = 0
		default:
		}
		all := []int64{0}
		if err := mpi.Allreduce(h.world, mine, all, mpi.Min); err != nil {
			return err
		}
		more = all[0]
	}
	if err := settled(goroutines); err != nil {
		return err
	}
	if h.heap = heap(); h.heap > memory+memoryKept {
		return fmt.Errorf("%d KiB of memory, there were %d", h.heap>>10, memory>>10)
	}
	return h.world.Finalize()
}

// memoryKept is more than the pools and stores of a rank grow while it is in use. What 10 minutes of calls lose is more.
const memoryKept = 16 << 20

// heap returns the bytes that are in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools have kept goes with the second
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// goroutinesKept is how many goroutines of a rank may begin after its first calls, such as the one that watches the next rank. What thousands
// of calls lose is more.
const goroutinesKept = 4

// settled waits until there are hardly more goroutines than there were.
func settled(before int) error {
	for range 1000 {
		if runtime.NumGoroutine() <= before+goroutinesKept {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<20)
	fmt.Fprintf(os.Stderr, "%s\n", stacks[:runtime.Stack(stacks, true)])
	return fmt.Errorf("%d goroutines, there were %d", runtime.NumGoroutine(), before)
}

// epoch makes a communicator and a window, calls much on them, and gives them back.
func (h *hurry) epoch() (err error) {
	if h.c, err = h.world.Dup(); err != nil {
		return err
	}
	if h.win, err = mpi.WinAllocate[int64](h.world, hurryRanks); err != nil {
		return err
	}
	for range 50 {
		h.call++
		if err := h.once(); err != nil {
			return err
		}
	}
	if err := h.world.Barrier(); err != nil {
		return err
	}
	return errors.Join(h.win.Free(), h.c.Free())
}

func (h *hurry) once() error {
	calls := []func(*mpi.Comm, int, int, int) error{
		h.allreduce, h.bcast, h.allgather, h.alltoall, h.reduce, h.scan, h.barrier, h.message, h.message, h.ring, h.window, h.window,
	}
	call, n := calls[h.common.IntN(len(calls))], []int{1, 50, 1000, 20_000}[h.common.IntN(4)]
	a := h.common.IntN(hurryRanks)
	b := (a + 1 + h.common.IntN(hurryRanks-1)) % hurryRanks
	var cancel context.CancelFunc
	h.ctx, cancel = context.WithTimeout(context.Background(), time.Duration(h.own.IntN(30_000))*time.Microsecond)
	defer cancel()
	err := call(h.c.WithContext(h.ctx), n, a, b)
	switch {
	case err == nil:
		h.right++
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, mpi.ErrOther) && strings.Contains(err.Error(), "has failed at rank"):
		h.late++ // its own deadline, or that of another rank of the collective
		err = nil
	}
	return err
}

// value is what a rank says in this call.
func (h *hurry) value(rank int) int64 { return int64(h.call)*hurryRanks + int64(rank) }

func (h *hurry) values(n, rank int) []int64 { return slices.Repeat([]int64{h.value(rank)}, n) }

// sum is what the first so many ranks say together.
func (h *hurry) sum(ranks int) (sum int64) {
	for rank := range ranks {
		sum += h.value(rank)
	}
	return sum
}

// are refuses anything but n times the value.
func are(what string, got []int64, want int64) error {
	for i, v := range got {
		if v != want {
			return fmt.Errorf("WRONG: %s: element %d of %d is %d, not %d", what, i, len(got), v, want)
		}
	}
	return nil
}

func (h *hurry) allreduce(c *mpi.Comm, n, _, _ int) error {
	got := make([]int64, n)
	if err := mpi.Allreduce(c, h.values(n, c.Rank()), got, mpi.Sum); err != nil {
		return err
	}
	return are("Allreduce", got, h.sum(hurryRanks))
}

func (h *hurry) bcast(c *mpi.Comm, n, root, _ int) error {
	got := h.values(n, c.Rank())
	if err := mpi.Bcast(c, got, root); err != nil {
		return err
	}
	return are("Bcast", got, h.value(root))
}

func (h *hurry) allgather(c *mpi.Comm, n, _, _ int) error {
	got := make([]int64, n*hurryRanks)
	if err := mpi.Allgather(c, h.values(n, c.Rank()), got); err != nil {
		return err
	}
	return h.ofEach("Allgather", got, n)
}

func (h *hurry) alltoall(c *mpi.Comm, n, _, _ int) error {
	got := make([]int64, n*hurryRanks)
	if err := mpi.Alltoall(c, h.values(n*hurryRanks, c.Rank()), got); err != nil {
		return err
	}
	return h.ofEach("Alltoall", got, n)
}

// ofEach refuses anything but n values of each rank.
func (h *hurry) ofEach(what string, got []int64, n int) (err error) {
	for rank := range hurryRanks {
		err = errors.Join(err, are(what, got[rank*n:][:n], h.value(rank)))
	}
	return err
}

func (h *hurry) reduce(c *mpi.Comm, n, root, _ int) error {
	got := make([]int64, n)
	if err := mpi.Reduce(c, h.values(n, c.Rank()), got, mpi.Sum, root); err != nil || c.Rank() != root {
		return err
	}
	return are("Reduce", got, h.sum(hurryRanks))
}

func (h *hurry) scan(c *mpi.Comm, n, _, _ int) error {
	got := make([]int64, n)
	if err := mpi.Scan(c, h.values(n, c.Rank()), got, mpi.Sum); err != nil {
		return err
	}
	return are("Scan", got, h.sum(c.Rank()+1))
}

func (h *hurry) barrier(c *mpi.Comm, _, _, _ int) error { return c.Barrier() }

func (h *hurry) message(c *mpi.Comm, n, from, to int) error {
	synchronous := h.common.IntN(2) == 0
	switch c.Rank() {
	case from:
		if synchronous {
			return mpi.Ssend(c, h.values(n, from), to, h.call)
		}
		return mpi.Send(c, h.values(n, from), to, h.call)
	case to:
		got := make([]int64, n)
		if _, err := mpi.Recv(c, got, from, h.call); err != nil {
			return err
		}
		return are("Recv", got, h.value(from))
	}
	return nil
}

func (h *hurry) ring(c *mpi.Comm, n, _, _ int) error {
	next, last := (c.Rank()+1)%hurryRanks, (c.Rank()+hurryRanks-1)%hurryRanks
	got := make([]int64, n)
	in, err := mpi.Irecv(c, got, last, h.call)
	if err != nil {
		return err
	}
	if err := mpi.Send(c, h.values(n, c.Rank()), next, h.call); err != nil {
		return errors.Join(err, h.drop(&in))
	}
	if _, err := in.Wait(); err != nil {
		return errors.Join(err, h.drop(&in))
	}
	return are("Irecv", got, h.value(last))
}

// drop gives up a receive, unless Wait has ended it.
func (h *hurry) drop(in *mpi.Request) error {
	if *in == (mpi.Request{}) {
		return nil
	}
	return errors.Join(in.Cancel(), in.Free())
}

// window has a rank write its place in another's window, and look what stands there.
func (h *hurry) window(c *mpi.Comm, _, from, to int) error {
	if c.Rank() != from {
		return nil
	}
	w := h.win.WithContext(h.ctx)
	if err := w.Lock(to, true); err != nil {
		return err
	}
	put := w.Put([]int64{h.value(from)}, to, from)
	flushed := w.Flush(to)
	got := []int64{0}
	get := errors.Join(w.Get(got, to, from), w.Flush(to))
	if err := w.Unlock(to); err != nil {
		return err
	}
	if err := errors.Join(put, flushed, get); err != nil {
		return err
	}
	return are("Get", got, h.value(from))
}
