//go:build linux

package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
	"gomx/mpi"
	"gomx/mx"
)

// The ranks of the tests of windows: one calls, one is asked what it sees, and one is stopped, slow or dead.
const (
	caller = iota
	witness
	still
	crowd
)

const (
	guard = 60 * time.Second // no wait of these tests is longer than that, unless something hangs
	short = 50 * time.Millisecond
)

// stage is what the caller has.
type stage struct {
	c     *proc.Child
	world *mpi.Comm
	win   *mpi.Win[int64] // fenced once

	other    *mpi.Comm       // for calls that only one rank makes
	third    *mpi.Comm       // of unfenced
	unfenced *mpi.Win[int64] // likewise
}

// plays are what the caller does in each of the tests.
var plays = map[string]func(s *stage) error{
	"deadlines":         deadlines,
	"slow":              slow,
	"dead":              dead,
	"wrong place":       wrongPlace,
	"unlock":            unlockAtTheEnd,
	"lock all":          lockAllComesBack,
	"each its own wait": eachItsOwn,
}

// TestWindows has a rank call on a window while another stands still, is slow, or has died.
func TestWindows(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	overEach(t, func(t *testing.T, medium string) {
		for name := range plays {
			t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
				t.Parallel()
				play(t, medium, name)
			})
		}
	})
}

// play starts the ranks, and does with the one that stands still what the caller says.
func play(t *testing.T, medium, name string) {
	options := byHand(t, crowd, medium)
	var all []*proc.Process
	for rank := range crowd {
		all = append(all, proc.StartWith(t, options(rank), "player", strings.ReplaceAll(name, " ", "-")))
	}
	for {
		switch order := all[caller].Hear(""); order {
		case "stop":
			all[still].Stop()
		case "continue":
			all[still].Signal(syscall.SIGCONT)
		case "kill":
			all[still].Kill()
		case "ended":
			if name == "dead" {
				all = all[:still]
			}
			for _, p := range all {
				p.Say("leave")
			}
			for _, p := range all {
				if err := p.Wait(); err != nil {
					t.Error(err)
				}
			}
			return
		default:
			t.Fatal(order)
		}
		all[caller].Say("done")
	}
}

// do has the parent do something with the rank that stands still.
func (s *stage) do(what string) {
	s.c.Say("%s", what)
	s.c.Hear()
}

// player is the role of each rank.
func player(c *proc.Child) {
	s := &stage{c: c}
	if err := s.play(plays[strings.ReplaceAll(c.Args[0], "-", " ")]); err != nil {
		c.Fail(err)
	}
	c.Hear()
	os.Exit(0)
}

func (s *stage) play(f func(s *stage) error) (err error) {
	if s.world, err = mpi.Init(); err != nil {
		return err
	}
	if s.win, err = mpi.WinAllocate[int64](s.world, windowLength); err != nil {
		return err
	}
	s.third, err = s.world.Dup()
	if err != nil {
		return err
	}
	if s.unfenced, err = mpi.WinAllocate[int64](s.third, 1); err != nil {
		return err
	}
	s.other, err = s.world.Dup()
	err = errors.Join(err, s.win.Fence())
	for rank := range crowd { // whoever can be reached from here on is connected
		_, asked := s.win.FetchAndOp(0, rank, 0, mpi.AccNone)
		err = errors.Join(err, asked, s.win.Put(make([]int64, 1), rank, 1), s.win.Flush(rank))
	}
	if err := errors.Join(err, s.win.Fence(), s.world.Barrier()); err != nil {
		return err
	}
	if s.world.Rank() != caller {
		return errors.Join(mpi.Ssend(s.world, []int64{0}, caller, 3), s.serve())
	}
	for _, rank := range []int{witness, still} { // a Barrier that this rank has left is one that another may still be in, with the one that stops
		if _, err := mpi.Recv(s.world, make([]int64, 1), rank, 3); err != nil {
			return err
		}
	}
	if err := f(s); err != nil {
		return fmt.Errorf("rank %d: %w", caller, err)
	}
	s.c.Say("ended")
	return nil
}

// What the caller orders, beside locks.
const (
	goHome  = -1
	freeAll = -2
)

// serve takes the locks that the caller names, until it names none.
func (s *stage) serve() error {
	order := make([]int64, 1)
	for {
		if _, err := mpi.Recv(s.world, order, caller, 1); err != nil {
			return err
		}
		if order[0] == freeAll {
			if err := s.win.Free(); err != nil {
				return err
			}
		}
		if order[0] < 0 {
			return mpi.Ssend(s.world, order, caller, 3)
		}
		ctx, cancel := context.WithTimeout(context.Background(), guard/2)
		w := s.win.WithContext(ctx)
		text := ""
		if err := errors.Join(w.Lock(int(order[0]), true), w.Unlock(int(order[0]))); err != nil {
			text = err.Error()
		}
		cancel()
		if err := mpi.Send(s.world, []byte(text), caller, 2); err != nil {
			return err
		}
	}
}

// canLock has another rank take a lock, and give it back.
func (s *stage) canLock(rank int, locks ...int64) error {
	for _, lock := range locks {
		text := make([]byte, 4096)
		if err := mpi.Send(s.world, []int64{lock}, rank, 1); err != nil {
			return err
		}
		st, err := mpi.Recv(s.world, text, rank, 2)
		if err != nil {
			return err
		}
		if st.Bytes > 0 {
			return fmt.Errorf("rank %d can't have the lock of rank %d: %s", rank, lock, text[:st.Bytes])
		}
	}
	return nil
}

// dismiss ends the service of the other ranks, which have heard it when it returns.
func (s *stage) dismiss(ranks ...int) (err error) {
	for _, rank := range ranks {
		_, heard := mpi.Sendrecv(s.world, []int64{goHome}, rank, 1, make([]int64, 1), rank, 3)
		err = errors.Join(err, heard)
	}
	return err
}

// inTime calls f, which must end.
func inTime(name string, f func() error) error {
	result := make(chan error, 1)
	go func() { result <- f() }()
	select {
	case err := <-result:
		return err
	case <-time.After(guard):
		return fmt.Errorf("%s does not end", name)
	}
}

// windowCall is a call on a window.
type windowCall struct {
	name  string
	needs bool // it can't succeed without the rank that stands still
	call  func(w *mpi.Win[int64]) error
}

// bounded are the calls that a context ends.
var bounded = []windowCall{
	{"Put", false, func(w *mpi.Win[int64]) error { return w.Put(make([]int64, 1), still, 100) }},
	{"large Put", false, func(w *mpi.Win[int64]) error { return w.Put(make([]int64, 40_000), still, 100) }},
	{"Get", false, func(w *mpi.Win[int64]) error { return w.Get(make([]int64, 1), still, 100) }},
	{"large Get", false, func(w *mpi.Win[int64]) error { return w.Get(make([]int64, 40_000), still, 100) }},
	{"very many Gets", true, func(w *mpi.Win[int64]) (err error) {
		for range 4000 {
			if err = w.Get(make([]int64, 1), still, 100); err != nil {
				return err
			}
		}
		return w.Flush(still)
	}},
	{"FlushLocal", true, func(w *mpi.Win[int64]) error {
		return errors.Join(w.Get(make([]int64, 40_000), still, 100), w.FlushLocal(still))
	}},
	{"Accumulate", false, func(w *mpi.Win[int64]) error { return w.Accumulate(make([]int64, 8000), still, 100, mpi.AccSum) }},
	{"Flush", true, func(w *mpi.Win[int64]) error { return w.Flush(still) }},
	{"FlushAll", true, func(w *mpi.Win[int64]) error { return w.FlushAll() }},
	{"GetAccumulate", true, func(w *mpi.Win[int64]) error {
		return w.GetAccumulate(make([]int64, 8000), make([]int64, 8000), still, 100, mpi.AccSum)
	}},
	{"FetchAndOp", true, func(w *mpi.Win[int64]) error { _, err := w.FetchAndOp(0, still, 1, mpi.AccSum); return err }},
	{"CompareAndSwap", true, func(w *mpi.Win[int64]) error { _, err := w.CompareAndSwap(1, 1, still, 1); return err }},
	{"Lock", true, func(w *mpi.Win[int64]) error {
		if err := w.Lock(still, true); err != nil {
			return err
		}
		return w.Unlock(still)
	}},
	{"LockAll", true, func(w *mpi.Win[int64]) error {
		if err := w.LockAll(); err != nil {
			return err
		}
		return w.UnlockAll()
	}},
}

// meetAlone makes the calls that all ranks make, alone: they return, and nothing is permitted that was not.
func (s *stage) meetAlone() error {
	ctx, cancel := context.WithTimeout(context.Background(), short)
	defer cancel()
	for name, call := range map[string]func() error{
		"WinAllocate": func() error { _, err := mpi.WinAllocate[int64](s.other.WithContext(ctx), 1); return err },
		"Fence":       func() error { return s.unfenced.WithContext(ctx).Fence() },
	} {
		if err := inTime(name, call); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("%s: error %v", name, err)
		}
	}
	if err := s.unfenced.Put(make([]int64, 1), still, 0); !errors.Is(err, mpi.ErrWin) {
		return fmt.Errorf("after a Fence that has not come about, a Put ends with %v", err)
	}
	return nil
}

// holding is what the process holds.
type holding struct {
	requests   uint64
	goroutines int
	heap       uint64 // bytes
}

// within reports whether it is no more than another one. The next rank is watched from a second after the start, and pools have buffers.
func (h holding) within(before holding) bool {
	return h.requests <= before.requests+1 && h.goroutines <= before.goroutines && h.heap <= before.heap+2<<20
}

func held() (h holding, err error) {
	boards, err := mx.Boards()
	if err != nil {
		return h, err
	}
	for _, b := range boards {
		counters, err := mx.BoardCounters(uint32(b.Number))
		if err != nil {
			return h, err
		}
		for _, c := range counters {
			if c.Label == "requests in use" {
				h.requests += c.Value
			}
		}
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h.goroutines, h.heap = runtime.NumGoroutine(), m.HeapAlloc
	return h, nil
}

// released waits until the process holds no more than before.
func released(before holding) error {
	for end := time.Now().Add(guard); ; time.Sleep(time.Millisecond) {
		now, err := held()
		if err != nil || now.within(before) {
			return err
		}
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			return fmt.Errorf("it holds %+v, and %+v before\n%s", now, before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// deadlines makes each call with a context that ends while the other rank stands still. Each returns, and when that rank goes on,
// everything is right, and nothing is left of the calls.
func deadlines(s *stage) error {
	// The first question to a rank makes a connection that stays.
	if err := errors.Join(s.win.Lock(still, false), s.win.Unlock(still)); err != nil {
		return err
	}
	before, err := held()
	if err != nil {
		return err
	}
	s.do("stop")
	for range 5 {
		for _, b := range bounded {
			ctx, cancel := context.WithTimeout(context.Background(), short)
			err := inTime(b.name, func() error { return b.call(s.win.WithContext(ctx)) })
			cancel()
			if err != nil && !errors.Is(err, context.DeadlineExceeded) || err == nil && b.needs {
				return fmt.Errorf("%s: error %v", b.name, err)
			}
		}
	}
	if err := s.meetAlone(); err != nil {
		return err
	}
	s.do("continue")
	if err := errors.Join(s.win.FlushAll(), s.canLock(witness, caller, witness, still), s.canLock(still, caller, witness, still),
		s.win.Lock(still, true), s.win.Put([]int64{5}, still, 7), s.win.Accumulate([]int64{6}, still, 7, mpi.AccSum), s.win.Unlock(still)); err != nil {
		return err
	}
	if err := errors.Join(s.other.Free(), s.third.Free()); err != nil {
		return err
	}
	before.requests += 2 * (crowd - 1) // for the Fences, for as long as there is their window, which all would have to free: once, and not for each round
	before.requests += crowd - 1       // for what was called alone on a freed communicator: others could still come to it, until they make another one
	if err := released(before); err != nil {
		return err
	}
	return s.dismiss(witness, still)
}

// slow makes each call while the other rank stands still, which goes on then: they succeed.
func slow(s *stage) error {
	for _, b := range bounded {
		s.do("stop")
		ctx, cancel := context.WithTimeout(context.Background(), guard)
		result := make(chan error, 1)
		go func() { result <- b.call(s.win.WithContext(ctx)) }()
		s.do("continue")
		err := <-result
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	return errors.Join(s.win.FlushAll(), s.canLock(witness, caller, witness, still), s.dismiss(witness, still))
}

// dead makes each call towards a rank that has died: those that need it say so.
func dead(s *stage) error {
	if err := errors.Join(s.win.LockAll(), s.win.Accumulate(make([]int64, 8000), still, 100, mpi.AccSum)); err != nil {
		return err
	}
	s.do("kill")
	for _, b := range append([]windowCall{
		{"UnlockAll", true, func(w *mpi.Win[int64]) error { return w.UnlockAll() }},
	}, bounded...) {
		ctx, cancel := context.WithTimeout(context.Background(), guard)
		again := func() error { return b.call(s.win.WithContext(ctx)) }
		err := inTime(b.name, again)
		for b.name == "FlushLocal" && err == nil && ctx.Err() == nil {
			err = again() // over shared memory the dead may give for a while
		}
		cancel()
		// What was started towards a failed rank ends once with an error, and is not under way any more.
		if b.needs && !strings.HasPrefix(b.name, "Flush") && !errors.Is(err, mpi.ErrProcFailed) || errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("%s: error %v", b.name, err)
		}
	}
	return errors.Join(s.canLock(witness, caller, witness), s.dismiss(witness))
}

// wrongPlace gives up a large Accumulate and other calls, and makes a small one elsewhere. All arrive where they belong, and have
// arrived when a Flush has.
func wrongPlace(s *stage) error {
	s.do("stop")
	ctx, cancel := context.WithTimeout(context.Background(), short)
	defer cancel()
	ones := make([]int64, 8000)
	for i := range ones {
		ones[i] = 1
	}
	given := s.win.WithContext(ctx).Accumulate(ones, still, 10, mpi.AccSum)
	if given != nil && !errors.Is(given, context.DeadlineExceeded) {
		return given
	}
	result := make(chan error, 1)
	go func() { result <- s.win.Accumulate([]int64{7}, still, 9000, mpi.AccSum) }()
	s.do("continue")
	if err := errors.Join(<-result, s.win.Flush(still)); err != nil {
		return err
	}
	s.do("stop")
	asking, leave := context.WithTimeout(context.Background(), short)
	defer leave()
	_, given = s.win.WithContext(asking).FetchAndOp(7, still, 9001, mpi.AccSum)
	again := s.win.WithContext(asking).GetAccumulate(ones, make([]int64, 8000), still, 10_000, mpi.AccSum)
	for _, err := range []error{given, again} {
		if !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("a rank that stands still answers: %w", err)
		}
	}
	flushed := make(chan error, 1)
	go func() {
		err := s.win.Flush(still)
		clear(ones) // they are free
		flushed <- err
	}()
	s.do("continue")
	got := make([]int64, windowLength)
	if err := errors.Join(<-flushed, s.win.Get(got, still, 0), s.win.Flush(still)); err != nil {
		return err
	}
	for i, v := range got {
		want := int64(0)
		switch {
		case i == 9000, i == 9001:
			want = 7
		case i >= 10 && i < 8010, i >= 10_000 && i < 18_000:
			want = 1
		}
		if v != want {
			return fmt.Errorf("element %d is %d, want %d", i, v, want)
		}
	}
	return s.dismiss(witness, still)
}

// unlockAtTheEnd gives locks back with a context that has ended, to a rank that stands still: it has them when the calls
// return without an error. Free is of the same kind, and wants all ranks.
func unlockAtTheEnd(s *stage) error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	w := s.win.WithContext(ended)
	for _, c := range []struct {
		name         string
		lock, unlock func() error
	}{
		{"Unlock", func() error { return s.win.Lock(still, true) }, func() error { return w.Unlock(still) }},
		{"UnlockAll", func() error { return s.win.LockAll() }, func() error { return w.UnlockAll() }},
	} {
		if err := c.lock(); err != nil {
			return err
		}
		s.do("stop")
		result := make(chan error, 1)
		go func() {
			result <- errors.Join(s.win.Accumulate(make([]int64, 8000), still, 10, mpi.AccSum), s.win.Put(make([]int64, 1), still, 3), c.unlock())
		}()
		s.do("continue")
		if err := errors.Join(<-result, s.canLock(witness, still, witness, caller)); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	for _, rank := range []int{witness, still} {
		if err := mpi.Send(s.world, []int64{freeAll}, rank, 1); err != nil {
			return err
		}
	}
	s.do("stop")
	result := make(chan error, 1)
	go func() { result <- w.Free() }()
	s.do("continue")
	err := <-result
	for _, rank := range []int{witness, still} {
		_, heard := mpi.Recv(s.world, make([]int64, 1), rank, 3)
		err = errors.Join(err, heard)
	}
	return err
}

// lockAllComesBack has LockAll get some locks, and not the last one, whose rank stands still: nobody else is kept from the others.
func lockAllComesBack(s *stage) error {
	s.do("stop")
	ctx, cancel := context.WithTimeout(context.Background(), short)
	defer cancel()
	if err := s.win.WithContext(ctx).LockAll(); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("LockAll: %v", err)
	}
	if err := s.canLock(witness, caller, witness); err != nil {
		return err
	}
	s.do("continue")
	return errors.Join(s.canLock(witness, caller, witness, still), s.win.LockAll(), s.win.UnlockAll(), s.dismiss(witness, still))
}

// eachItsOwn has a goroutine wait for a rank that stands still, for as long as it takes. Others, on the same rank's
// memory, wait as long as their contexts say.
func eachItsOwn(s *stage) error {
	s.do("stop")
	got, result := make([]int64, 40_000), make(chan error, 2)
	if err := s.win.Get(got, still, 100); err != nil {
		return err
	}
	for range 2 {
		go func() { result <- errors.Join(s.win.Accumulate([]int64{1}, still, 7, mpi.AccSum), s.win.Flush(still)) }()
	}
	for range 2 {
		for _, b := range bounded {
			ctx, cancel := context.WithTimeout(context.Background(), short)
			err := inTime(b.name, func() error { return b.call(s.win.WithContext(ctx)) })
			cancel()
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("%s: %w", b.name, err)
			}
		}
	}
	s.do("continue")
	return errors.Join(<-result, <-result, s.win.FlushAll(), s.canLock(witness, caller, witness, still), s.dismiss(witness, still))
}
