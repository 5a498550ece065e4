package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
)

// blocking is a call that waits for the other of two ranks. Collective ones are made by both. The first word of its name is the function
// of package mpi, as TestTableOfCallsThatWait has it.
type blocking struct {
	name       string
	collective bool
	call       func(c *mpi.Comm) error

	// prepare, if there is one, makes the call, and another one that gives back what it has made. Both ranks call both.
	prepare func(c *mpi.Comm) (call func(c *mpi.Comm) error, end func() error, err error)
}

// ready returns the call, and what follows it in the end.
func (b *blocking) ready(c *mpi.Comm) (call func(c *mpi.Comm) error, end func() error, err error) {
	if b.prepare == nil {
		return b.call, func() error { return nil }, nil
	}
	return b.prepare(c)
}

// long is the length of messages that don't leave before their receiver takes them.
const long = 1 << 17

// scattered is a layout of so many blocks that a message is packed.
var scattered = mpi.Vector(300, 400, 401)

// blockings are the calls that take the context of the communicator.
func blockings() []blocking {
	two := func(c *mpi.Comm) (out, in []int64) { return make([]int64, long), make([]int64, long) }
	list := append(windowBlockings(), []blocking{
		{name: "Send", call: func(c *mpi.Comm) error { return mpi.Send(c, make([]int64, long), 1, 1) }},
		{name: "Ssend", call: func(c *mpi.Comm) error { return mpi.Ssend(c, []int64{1}, 1, 1) }},
		{name: "SendLayout", call: func(c *mpi.Comm) error {
			return mpi.SendLayout(c, make([]int64, scattered.Extent()), scattered, 1, 1)
		}},
		{name: "Recv", call: func(c *mpi.Comm) error { return second(mpi.Recv(c, make([]int64, 1), 1, 1)) }},
		{name: "Recv from any", call: func(c *mpi.Comm) error { return second(mpi.Recv(c, make([]int64, 1), mpi.AnySource, 1)) }},
		{name: "RecvLayout", call: func(c *mpi.Comm) error {
			return second(mpi.RecvLayout(c, make([]int64, scattered.Extent()), scattered, 1, 1))
		}},
		{name: "Probe", call: func(c *mpi.Comm) error { return second(c.Probe(1, 1)) }},
		{name: "Mprobe", call: func(c *mpi.Comm) error { _, _, err := c.Mprobe(1, 1); return err }},
		{name: "Sendrecv", call: func(c *mpi.Comm) error {
			out, in := two(c)
			return second(mpi.Sendrecv(c, out, 1, 1, in, 1, 1))
		}},
		{name: "SendrecvReplace", call: func(c *mpi.Comm) error {
			return second(mpi.SendrecvReplace(c, make([]int64, long), 1, 1, 1, 1))
		}},
		{name: "HangReport", call: func(c *mpi.Comm) error { return second(c.HangReport(mpi.ContextOfCalls(c))) }},
	}...)
	for name, wait := range map[string]func(ctx context.Context, reqs []mpi.Request) error{
		"Request.Wait":        func(_ context.Context, reqs []mpi.Request) error { return second(reqs[0].Wait()) },
		"Request.WaitContext": func(ctx context.Context, reqs []mpi.Request) error { return second(reqs[0].WaitContext(ctx)) },
		"WaitAll":             func(_ context.Context, reqs []mpi.Request) error { return mpi.WaitAll(reqs, nil) },
		"WaitAny":             func(_ context.Context, reqs []mpi.Request) error { _, _, err := mpi.WaitAny(reqs); return err },
		"WaitSome":            func(_ context.Context, reqs []mpi.Request) error { return second(mpi.WaitSome(reqs, nil)) },
	} {
		list = append(list, blocking{name: name, call: func(c *mpi.Comm) error {
			ctx := mpi.ContextOfCalls(c)
			if name == "Request.WaitContext" {
				c = c.WithContext(nobodys)
			}
			reqs := make([]mpi.Request, 2)
			var err error
			if reqs[0], err = mpi.Irecv(c, make([]int64, 1), 1, 1); err != nil {
				return err
			}
			if reqs[1], err = mpi.Issend(c, make([]int64, long), 1, 1); err != nil {
				return errors.Join(err, reqs[0].Cancel())
			}
			err = wait(ctx, reqs)
			for i := range reqs {
				if reqs[i].Cancel() == nil {
					_, _ = reqs[i].Wait() // it is cancelled
				}
				if err := reqs[i].Free(); err != nil {
					return err
				}
			}
			return err
		}})
	}
	for name, call := range map[string]func(c *mpi.Comm, out, in []int64) error{
		"Barrier":      func(c *mpi.Comm, _, _ []int64) error { return c.Barrier() },
		"Bcast of 0":   func(c *mpi.Comm, out, _ []int64) error { return mpi.Bcast(c, out, 0) },
		"Bcast of 1":   func(c *mpi.Comm, out, _ []int64) error { return mpi.Bcast(c, out, 1) },
		"Reduce to 0":  func(c *mpi.Comm, out, in []int64) error { return mpi.Reduce(c, out, in, mpi.Sum, 0) },
		"Reduce to 1":  func(c *mpi.Comm, out, in []int64) error { return mpi.Reduce(c, out, in, mpi.Sum, 1) },
		"Allreduce":    func(c *mpi.Comm, out, in []int64) error { return mpi.Allreduce(c, out, in, mpi.Sum) },
		"Scan":         func(c *mpi.Comm, out, in []int64) error { return mpi.Scan(c, out, in, mpi.Sum) },
		"Exscan":       func(c *mpi.Comm, out, in []int64) error { return mpi.Exscan(c, out, in, mpi.Sum) },
		"Gather to 0":  func(c *mpi.Comm, out, in []int64) error { return mpi.Gather(c, out[:len(in)/2], in, 0) },
		"Gather to 1":  func(c *mpi.Comm, out, in []int64) error { return mpi.Gather(c, out[:len(in)/2], in, 1) },
		"Scatter of 0": func(c *mpi.Comm, out, in []int64) error { return mpi.Scatter(c, out, in[:len(out)/2], 0) },
		"Scatter of 1": func(c *mpi.Comm, out, in []int64) error { return mpi.Scatter(c, out, in[:len(out)/2], 1) },
		"Allgather":    func(c *mpi.Comm, out, in []int64) error { return mpi.Allgather(c, out[:len(in)/2], in) },
		"Alltoall":     func(c *mpi.Comm, out, in []int64) error { return mpi.Alltoall(c, out, in) },
		"ReduceScatterBlock": func(c *mpi.Comm, out, in []int64) error {
			return mpi.ReduceScatterBlock(c, out, in[:len(out)/2], mpi.Sum)
		},
		"ReduceScatter": func(c *mpi.Comm, out, in []int64) error {
			counts := []int{len(out) - 1, 1}
			return mpi.ReduceScatter(c, out, in[:counts[c.Rank()]], counts, mpi.Sum)
		},
		"Gatherv":    func(c *mpi.Comm, out, in []int64) error { return mpi.Gatherv(c, out[:1], in[:2], []int{1, 1}, nil, 0) },
		"Scatterv":   func(c *mpi.Comm, out, in []int64) error { return mpi.Scatterv(c, out[:2], []int{1, 1}, nil, in[:1], 1) },
		"Allgatherv": func(c *mpi.Comm, out, in []int64) error { return mpi.Allgatherv(c, out[:1], in[:2], []int{1, 1}, nil) },
		"Alltoallv": func(c *mpi.Comm, out, in []int64) error {
			return mpi.Alltoallv(c, out[:2], []int{1, 1}, nil, in[:2], []int{1, 1}, nil)
		},
		"Iallreduce": func(c *mpi.Comm, out, in []int64) error { return awaited(mpi.Iallreduce(c, out, in, mpi.Sum)) },
		"WinCreate": func(c *mpi.Comm, out, _ []int64) error {
			w, err := mpi.WinCreate(c, out)
			if err == nil {
				err = w.Free()
			}
			return err
		},
		"WinAllocate": func(c *mpi.Comm, out, _ []int64) error {
			w, err := mpi.WinAllocate[int64](c, len(out))
			if err == nil {
				err = w.Free()
			}
			return err
		},
	} {
		for _, length := range []int{2, long} {
			list = append(list, blocking{name: fmt.Sprintf("%s of %d", name, length), collective: true, call: func(c *mpi.Comm) error {
				return call(c, make([]int64, length), make([]int64, length))
			}})
		}
	}
	for name, start := range nonblocking {
		list = append(list, blocking{name: name, collective: true, call: func(c *mpi.Comm) error {
			q, _, err := start(c)
			return awaited(q, err)
		}})
	}
	for name, makeOne := range map[string]func(c *mpi.Comm) (*mpi.Comm, error){
		"Dup":       func(c *mpi.Comm) (*mpi.Comm, error) { return c.Dup() },
		"Split":     func(c *mpi.Comm) (*mpi.Comm, error) { return c.Split(0, 0) },
		"SplitHost": func(c *mpi.Comm) (*mpi.Comm, error) { return c.SplitHost(0) },
		"Create":    func(c *mpi.Comm) (*mpi.Comm, error) { return c.Create(c.Group()) },
		"Cart": func(c *mpi.Comm) (*mpi.Comm, error) {
			g, err := c.Cart([]int{2}, []bool{true}, false)
			if err != nil {
				return nil, err
			}
			return g.WithContext(nobodys), nil
		},
	} {
		list = append(list, blocking{name: name, collective: true, call: func(c *mpi.Comm) error {
			d, err := makeOne(c)
			if err == nil {
				err = d.Free()
			}
			return err
		}})
	}
	list = append(list, blocking{name: "Cart.Sub", collective: true, prepare: subCart})
	slices.SortFunc(list, func(a, b blocking) int { return strings.Compare(a.name, b.name) }) // all ranks have the same
	return list
}

// subCart makes a grid, of which a call makes the part.
func subCart(c *mpi.Comm) (call func(c *mpi.Comm) error, end func() error, err error) {
	g, err := c.Cart([]int{2}, []bool{true}, false)
	if err != nil {
		return nil, nil, err
	}
	call = func(c *mpi.Comm) error {
		with := *g
		with.Comm = g.WithContext(mpi.ContextOfCalls(c))
		part, err := with.Sub(true)
		if err == nil {
			err = part.Free()
		}
		return err
	}
	return call, g.Free, nil
}

// awaited waits for a collective that was started.
func awaited(q mpi.Request, err error) error {
	if err != nil {
		return err
	}
	if _, err = q.Wait(); errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(err, q.Free())
	}
	return err
}

func second[T any](_ T, err error) error { return err }

// goTag is that of the message after which rank 1 goes on.
const goTag = 77

// giveUpAll has rank 0 make each call while rank 1 does nothing, or is halted. Whatever the call has returned, the communicator is as good
// as before, and nothing is left of it when that is freed.
func giveUpAll(c *mpi.Comm, halt, resume func() error) error {
	if err := sum(c); err != nil {
		return err
	}
	goroutines := runtime.NumGoroutine()
	for _, b := range blockings() {
		if err := giveUpOne(c, b, halt, resume); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	d, err := c.Dup() // whoever frees a communicator drops what comes late when the next one is made
	if err != nil {
		return err
	}
	if err := errors.Join(nothingLeft(c), d.Free(), c.Barrier()); err != nil {
		return err
	}
	return until(func() error {
		if now := runtime.NumGoroutine(); now > goroutines+2 { // links heal and timers fire
			return fmt.Errorf("%d goroutines, %d before", now, goroutines)
		}
		return nil
	})
}

func giveUpOne(c *mpi.Comm, b blocking, halt, resume func() error) error {
	d, err := c.Dup()
	if err != nil {
		return err
	}
	call, end, err := b.ready(d)
	if err != nil {
		return err
	}
	if err := c.Barrier(); err != nil {
		return err
	}
	if c.Rank() == 0 {
		if err := halt(); err != nil {
			return err
		}
		with, cancel := brief(d)
		err := call(with)
		cancel()
		if err := resume(); err != nil {
			return err
		}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		if err := mpi.Send(c, []byte{1}, 1, goTag); err != nil {
			return err
		}
	} else {
		if _, err := mpi.Recv(c, make([]byte, 1), 0, goTag); err != nil {
			return err
		}
		if b.collective {
			with, cancel := brief(d)
			_ = call(with) // it is right, or refused
			cancel()
		}
	}
	if err := errors.Join(sum(d), sum(d)); err != nil {
		return err
	}
	other, in := 1-c.Rank(), []int{0}
	if _, err := mpi.Sendrecv(d, []int{c.Rank()}, other, 9, in, other, 9); err != nil || in[0] != other {
		return fmt.Errorf("a later message is %v, %w", in, err)
	}
	return errors.Join(end(), d.Free(), c.Barrier())
}

// nothingLeft waits until no request of the rank is pending.
func nothingLeft(c *mpi.Comm) error {
	return until(func() error {
		if left := mpi.Pending(c); len(left) > 0 {
			_, _, _ = c.Iprobe(mpi.AnySource, mpi.TagUB)
			return fmt.Errorf("requests are left: %q", left)
		}
		if mpi.UnreadNotices(c) {
			return errors.New("notices are left")
		}
		return nil
	})
}

// until repeats what fails until it does not, for a time.
func until(f func() error) (err error) {
	for end := time.Now().Add(bound / 3); ; time.Sleep(time.Millisecond) {
		if err = f(); err == nil || time.Now().After(end) {
			return err
		}
	}
}

// TestGivenUpWithASlowPeer: every call that takes a context returns when that ends, and leaves nothing behind. It counts the goroutines of
// the process, and so runs alone.
func TestGivenUpWithASlowPeer(t *testing.T) {
	testlength.Long(t)
	nothing := func() error { return nil }
	giveUp := func(c *mpi.Comm) error { return giveUpAll(c, nothing, nothing) }
	over(t, 2, giveUp)
	t.Run("checked", func(t *testing.T) { world(t, 2, giveUp, mpi.WithCheckedCollectives()) })
}

// TestGivenUpWithADeadPeer: the same, where the peer dies in the meantime.
func TestGivenUpWithADeadPeer(t *testing.T) {
	amongOthers(t)
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			amongOthers(t)
			skipWithout(t, transport)
			if e := job(t, "widow", 2, "MX_TRANSPORT="+transport)[0]; e.code != 0 || e.output != "" {
				t.Errorf("exit code %d, %s", e.code, e.output)
			}
		})
	}
}

func init() { programs["widow"] = widow }

func widow(world *mpi.Comm) error {
	table := blockings()
	comms, calls, ends := make([]*mpi.Comm, len(table)), make([]func(c *mpi.Comm) error, len(table)), make([]func() error, len(table))
	for i := range table {
		var err error
		if comms[i], err = world.Dup(); err != nil {
			return err
		}
		if calls[i], ends[i], err = table[i].ready(comms[i]); err != nil {
			return err
		}
	}
	if world.Rank() == 1 {
		os.Exit(7)
	}
	for i, b := range table {
		with, cancel := brief(comms[i])
		err := calls[i](with)
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, mpi.ErrProcFailed) {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		if err := ends[i](); err != nil && !errors.Is(err, mpi.ErrProcFailed) {
			return fmt.Errorf("after %s: %w", b.name, err)
		}
		if err := comms[i].Free(); err != nil {
			return err
		}
	}
	if err := nothingLeft(world); err != nil {
		return err
	}
	return part(world)
}
