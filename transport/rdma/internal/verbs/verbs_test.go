//go:build linux && cgo

package verbs_test

import (
	"bytes"
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"gomx/transport/rdma/internal/verbs"
)

func TestDevice(t *testing.T) {
	b := openDevice(t)
	names, err := verbs.Names()
	check(t, err)
	t.Log(names, b.port.String(), b.gid)
	l := b.device.Limits()
	t.Logf("%+v", l)
	if b.device.Name() != b.port.Device || l.Ports < b.port.Number || l.MaxQPs < 2 || l.MaxSends < depth ||
		l.MaxReceives < depth || l.MaxPieces < pieces || l.MaxReadsIn < 4 || l.MaxRegion < 1<<20 {
		t.Errorf("%s says %+v", b.device.Name(), l)
	}
	state, err := b.device.Port(b.port.Number)
	check(t, err)
	t.Logf("%+v", state)
	if !state.Active || state.LID != b.port.LID || state.MTU.Bytes() < 256 || state.GIDs <= b.gid.Index {
		t.Errorf("%v says %+v", &b.port, state)
	}
	if _, err := b.device.Port(l.Ports + 1); err == nil {
		t.Error("a port that is not there has a state")
	}
}

func TestOpenNoDevice(t *testing.T) {
	if err := verbs.Load(); err != nil {
		t.Skip("needs libibverbs: ", err)
	}
	if _, err := verbs.Open("nobody0"); !errors.Is(err, verbs.ErrNoDevice) {
		t.Errorf("error %v, want ErrNoDevice", err)
	}
}

// TestSend sends messages of several pieces, inline and not, signaled and not.
func TestSend(t *testing.T) {
	b := newPair(t)
	const size = 256
	from := b.register(content(make([]byte, 4*size), 3), 0)
	to := b.register(make([]byte, batch*size), verbs.LocalWrite)
	for i := range batch {
		b.b.receives.Add(uint64(100+i), to.Piece(i*size, size))
	}
	if !b.b.receives.Full() {
		t.Error("there is room for more receives than were asked for")
	}
	b.b.post()

	s := b.a.sends
	s.Send(1, 0, from.Piece(0, 10))
	s.Send(2, verbs.Inline, from.Piece(10, 5), from.Piece(0, 5))
	s.Send(3, verbs.Signaled, from.Piece(size, 100), from.Piece(7, 0), from.Piece(3, 1), from.Piece(2*size, 99))
	s.Send(4, verbs.Signaled|verbs.Inline)
	b.a.post()
	b.a.awaitDone(verbs.Sent, 3, 4)
	mem := from.Bytes()
	want := [][]byte{
		mem[:10], append(bytes.Clone(mem[10:15]), mem[:5]...),
		append(append(bytes.Clone(mem[size:size+100]), mem[3]), mem[2*size:2*size+99]...), {},
	}
	for i, c := range b.b.awaitDone(verbs.Received, 100, 101, 102, 103) {
		if got := to.Bytes()[i*size:][:c.Bytes]; !bytes.Equal(got, want[i]) {
			t.Errorf("message %d is %x, want %x", i, got, want[i])
		}
	}
	if max := b.a.qp.MaxInline(); max < maxInline {
		t.Errorf("%d bytes go inline, %d were asked for", max, maxInline)
	}
}

// TestInlineIsCopied changes the memory as soon as Post has returned.
func TestInlineIsCopied(t *testing.T) {
	b := newPair(t)
	from := b.register(content(make([]byte, maxInline), 1), 0)
	want := bytes.Clone(from.Bytes())
	b.a.sends.Send(1, verbs.Inline|verbs.Signaled, from.Piece(0, maxInline))
	b.a.post() // nobody receives yet
	clear(from.Bytes())
	to := b.register(make([]byte, maxInline), verbs.LocalWrite)
	b.b.receives.Add(2, to.Piece(0, maxInline))
	b.b.post()
	b.b.awaitDone(verbs.Received, 2)
	b.a.awaitDone(verbs.Sent, 1)
	if !bytes.Equal(to.Bytes(), want) {
		t.Errorf("got %x", to.Bytes())
	}
}

// TestReadAndWrite moves a list into a list that is cut differently: several requests
// of several pieces. The memory is of the Go heap, and mapped.
func TestReadAndWrite(t *testing.T) {
	b := newPair(t)
	const size = 1 << 20
	mapped, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	check(t, err)
	defer func() { check(t, unix.Munmap(mapped)) }()
	far, err := b.domain.Register(content(mapped, 9), verbs.LocalWrite|verbs.RemoteRead|verbs.RemoteWrite)
	check(t, err)
	defer func() { check(t, far.Close()) }()
	near := b.register(make([]byte, size), verbs.LocalWrite)

	const third, gap = size / 3, 1001
	s := b.a.sends
	s.Read(1, 0, far.Addr()+third, far.RemoteKey(), near.Piece(gap, third), near.Piece(0, gap))
	s.Read(2, verbs.Signaled, far.Addr(), far.RemoteKey(), near.Piece(size-third, third))
	b.a.post()
	b.a.awaitDone(verbs.Read, 2)
	if got := near.Bytes(); !bytes.Equal(got[gap:gap+third], mapped[third:2*third]) ||
		!bytes.Equal(got[:gap], mapped[2*third:2*third+gap]) || !bytes.Equal(got[size-third:], mapped[:third]) {
		t.Error("the read brought other bytes")
	}

	content(near.Bytes(), 77)
	clear(mapped)
	s.Write(3, 0, far.Addr()+5, far.RemoteKey(), near.Piece(0, 10), near.Piece(third, 20))
	s.Write(4, verbs.Signaled, far.Addr()+third, far.RemoteKey(), near.Piece(gap, 2*third))
	b.a.post()
	b.a.awaitDone(verbs.Wrote, 4)
	want := make([]byte, size)
	copy(want[5:], near.Bytes()[:10])
	copy(want[15:], near.Bytes()[third:third+20])
	copy(want[third:], near.Bytes()[gap:gap+2*third])
	if !bytes.Equal(mapped, want) {
		t.Error("the write left other bytes")
	}
}

// TestClosedRegion reads memory that was open, and is not any more.
func TestClosedRegion(t *testing.T) {
	b := newPair(t)
	far, err := b.domain.Register(make([]byte, 4096), verbs.RemoteRead)
	check(t, err)
	near := b.register(make([]byte, 4096), verbs.LocalWrite)
	addr, key := far.Addr(), far.RemoteKey()
	check(t, far.Close())
	b.a.sends.Read(1, verbs.Signaled, addr, key, near.Piece(0, 4096))
	b.a.post()
	if c := b.a.await(1)[0]; c.ID != 1 || c.Status != verbs.RemoteAccess {
		t.Errorf("the read ended with %v (%+v)", c.Status, c)
	}
	if state, err := b.a.qp.State(); err != nil || state != verbs.Failed {
		t.Errorf("the queue pair is in state %d, %v", state, err)
	}
}

// TestFail: requests that are not carried out complete, in order, and the peer's too.
func TestFail(t *testing.T) {
	b := newPair(t)
	if state, err := b.a.qp.State(); err != nil || state != verbs.Ready {
		t.Errorf("a connected queue pair is in state %d, %v", state, err)
	}
	check(t, b.b.qp.Fail())
	mem := b.register(make([]byte, 64), verbs.LocalWrite)
	b.a.sends.Send(1, 0, mem.Piece(0, 64))
	b.a.sends.Send(2, 0, mem.Piece(0, 64))
	b.a.post()
	all := b.a.await(2)
	if all[0].ID != 1 || all[0].Status != verbs.Unanswered || all[1].ID != 2 || all[1].Status != verbs.Flushed {
		t.Errorf("completions %v (%v), %v (%v)", all[0], all[0].Status, all[1], all[1].Status)
	}
}

// TestFullQP posts more than the QP takes. Nobody receives.
func TestFullQP(t *testing.T) {
	b := newPair(t)
	mem := b.register(make([]byte, 64), 0)
	taken := 0
	for range 100 {
		for !b.a.sends.Full() {
			b.a.sends.Send(uint64(taken), verbs.Signaled, mem.Piece(0, 64))
		}
		n, err := b.a.qp.Post(b.a.sends)
		taken += n
		if err != nil {
			if !errors.Is(err, unix.ENOMEM) || n >= batch || b.a.sends.Len() != 0 {
				t.Errorf("%d taken, %d left, %v", n, b.a.sends.Len(), err)
			}
			break
		}
	}
	if taken < depth || taken >= 100*batch {
		t.Errorf("a queue pair of %d requests took %d", depth, taken)
	}
}

// TestSleep waits on the descriptor.
func TestSleep(t *testing.T) {
	b := newPair(t)
	mem := b.register(make([]byte, 8), verbs.LocalWrite)
	for round := range uint64(20) {
		check(t, b.b.queue.Arm())
		if n := readable(t, b.b.queue.FD(), 0); n != 0 || b.b.queue.Drain() {
			t.Fatalf("round %d: awake before anything has come", round)
		}
		b.b.receives.Add(round, mem.Piece(0, 8))
		b.b.post()
		b.a.sends.Send(round, verbs.Signaled, mem.Piece(0, 8))
		b.a.post()
		if readable(t, b.b.queue.FD(), int(patience.Milliseconds())) != 1 || !b.b.queue.Drain() {
			t.Fatalf("round %d: nothing woke us", round)
		}
		b.b.awaitDone(verbs.Received, round)
		b.a.awaitDone(verbs.Sent, round)
	}
}

// readable waits until fd is readable, and returns 0 if the time is over before.
func readable(t *testing.T, fd, milliseconds int) int {
	t.Helper()
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, milliseconds)
		if err != unix.EINTR {
			check(t, err)
			return n
		}
	}
}

// TestNoEvents: a device to which nothing has happened has no events.
func TestNoEvents(t *testing.T) {
	b := openDevice(t)
	if e, port, ok, err := b.device.NextEvent(); ok || err != nil || readable(t, b.device.EventFD(), 0) != 0 {
		t.Errorf("%v of port %d, %v", e, port, err)
	}
}

func TestNoAllocations(t *testing.T) {
	b := newPair(t)
	mem := b.register(make([]byte, 64), verbs.LocalWrite|verbs.RemoteRead)
	n := testing.AllocsPerRun(100, func() {
		b.b.receives.Add(1, mem.Piece(32, 8))
		b.b.post()
		b.a.sends.Send(2, verbs.Inline, mem.Piece(0, 8))
		b.a.sends.Read(3, verbs.Signaled, mem.Addr(), mem.RemoteKey(), mem.Piece(40, 8))
		b.a.post()
		for _, e := range []*end{b.a, b.b} {
			for {
				done, err := e.queue.Poll()
				if err != nil || len(done) > 0 && done[0].Status != verbs.Success {
					t.Fatal(done, err)
				}
				if len(done) == 1 {
					break
				}
			}
		}
	})
	if n != 0 {
		t.Errorf("%v allocations for a send, a read and a receive", n)
	}
}
