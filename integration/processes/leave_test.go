//go:build linux

package processes_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
	"gomx/mx"
)

// How a sender leaves.
const (
	closes = "closes"
	exits  = "exits" // without closing
	killed = "is killed"
)

// leaves sends messages of one size to its parent when that says so, tells how many of them are complete, from the
// first one on, and leaves at once. Before that it sends so many small messages that it has credit. Arguments: the parent's
// endpoint, size and count, and the number of small ones.
func leaves(c *proc.Child) {
	ep, to := openChild(c, mx.AnyEndpoint, c.Number(0))
	size, count := int(c.Number(1)), uint64(c.Number(2))
	c.Say("open %d", ep.ID())
	for range c.Number(3) {
		r, err := ep.Isend(make([]byte, 8), to, forCredit, nil)
		done(c, ep, r, err)
	}
	how := c.Hear()
	sends := make([]mx.Request, count)
	for i := range sends {
		r, err := ep.Isend(leaversMessage(size, uint64(i)), to, uint64(i), nil)
		if err != nil {
			c.Fail(err)
		}
		sends[i] = r
	}
	complete, limit := 0, time.Now().Add(500*time.Millisecond)
	for _, r := range sends {
		st, ok, err := ep.Wait(r, max(0, time.Until(limit)))
		if err != nil || ok && st.Code != mx.StatusSuccess {
			c.Fail(fmt.Errorf("message %d: %v, %w", complete, st.Code, err))
		}
		if !ok {
			break
		}
		complete++
	}
	c.Say("complete %d", complete)
	switch how {
	case closes:
		if err := ep.Close(); err != nil {
			c.Fail(err)
		}
	case killed:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	os.Exit(0)
}

// forCredit is the match information of the small messages.
const forCredit = 1 << 40

func leaversMessage(size int, i uint64) []byte {
	b := make([]byte, size)
	for at := range b {
		b[at] = byte(at) ^ byte(at>>8) ^ byte(i*7)
	}
	if size >= 8 {
		binary.LittleEndian.PutUint64(b, i)
	}
	return b
}

// What a sender has completed before it closes its endpoint is received, in order and before anybody is told of its end,
// however late the receiver is, also if its progression was off for so long. If it leaves in another way, what is
// received is whole, in order and without a gap; over shared memory that is all that it has completed.
func TestSenderLeavesAtOnce(t *testing.T) {
	testlength.Long(t)
	aboutShm(t)
	initialize(t)
	for _, media := range []string{"shm", "tcp"} {
		for _, how := range []string{closes, exits, killed} {
			run := func(size int, late time.Duration, paused bool) {
				t.Run(fmt.Sprintf("%s/%s/%d/%v/%v", media, how, size, late, paused), func(t *testing.T) {
					t.Parallel()
					leftBehind(t, media, how, size, late, paused)
				})
			}
			for _, size := range []int{0, 8, 1 << 10, 100 << 10} {
				run(size, 0, false)
				run(size, 10*time.Millisecond, false)
			}
			run(8, time.Second, false)
			run(1<<10, time.Second, true)
		}
	}
}

func leftBehind(t *testing.T, media, how string, size int, late time.Duration, paused bool) {
	count := 200
	if size > 10<<10 {
		count = 20
	}
	ep := open(t, mx.WithTransports(media, "self"))
	sender := proc.StartWith(t, proc.Options{Env: []string{transportKey + "=" + media, "MX_EAGER=1048576"}}, "leaves", ep.ID(), size, count, 0)
	to := connect(t, ep, sender.HearNumber("open"))
	if paused {
		if err := ep.DisableProgression(); err != nil {
			t.Fatal(err)
		}
	}
	sender.Say("%s", how)
	time.Sleep(late)
	if paused {
		if err := ep.ReenableProgression(); err != nil {
			t.Fatal(err)
		}
	}
	received := 0
	for ; received < count; received++ {
		buf := make([]byte, size+1)
		st := finish(t, ep, must[mx.Request](t)(ep.IrecvFrom(buf, to, uint64(received), mx.MatchMaskNone, nil)))
		if st.Code != mx.StatusSuccess {
			t.Logf("message %d: %v", received, st.Code)
			break
		}
		if int(st.XferLength) != size || string(buf[:size]) != string(leaversMessage(size, uint64(received))) {
			t.Fatalf("message %d is another one, of %d bytes", received, st.XferLength)
		}
	}
	for i := received; i < count; i++ {
		if st := finish(t, ep, must[mx.Request](t)(ep.IrecvFrom(nil, to, uint64(i), mx.MatchMaskNone, nil))); st.Code == mx.StatusSuccess {
			t.Errorf("message %d came though message %d did not", i, received)
		}
	}
	complete := int(sender.HearNumber("complete"))
	t.Logf("%d complete, %d received", complete, received)
	if received < complete && (media == "shm" || how == closes) {
		t.Errorf("%d messages were complete, and %d received", complete, received)
	}
}

// What a sender has completed before it closes reaches a receiver that reads nothing meanwhile, for less than the second in which Close
// wants to see some of it taken: more than the system's buffers hold, and less than the credit.
func TestSenderLeavesAPausedReceiver(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	aboutShm(t)
	initialize(t)
	const size, count, small, pause, most = 3000, 250, 20_000, 700 * time.Millisecond, 900 * time.Millisecond
	for range 10 {
		ep := open(t, mx.WithTransports("tcp", "self"))
		sender := proc.StartWith(t, proc.Options{Env: []string{transportKey + "=tcp"}}, "leaves", ep.ID(), size, count, small)
		to := connect(t, ep, sender.HearNumber("open"))
		for range small {
			finish(t, ep, must[mx.Request](t)(ep.IrecvFrom(make([]byte, 8), to, forCredit, mx.MatchMaskNone, nil)))
		}
		if err := ep.DisableProgression(); err != nil {
			t.Fatal(err)
		}
		sender.Say(closes)
		complete := int(sender.HearNumber("complete"))
		begin := time.Now()
		time.Sleep(pause)
		if err := ep.ReenableProgression(); err != nil {
			t.Fatal(err)
		}
		late := time.Since(begin) > most // on a busy machine
		received := 0
		for ; received < complete; received++ {
			st := finish(t, ep, must[mx.Request](t)(ep.IrecvFrom(make([]byte, size), to, uint64(received), mx.MatchMaskNone, nil)))
			if st.Code != mx.StatusSuccess {
				break
			}
		}
		t.Logf("%d complete, %d received", complete, received)
		switch {
		case received == complete:
			return
		case !late:
			t.Fatalf("%d messages were complete, and %d received", complete, received)
		}
	}
	t.Skipf("this machine lacks a processor that is free: each pause lasted longer than %v", most)
}

// collects receives messages of 1 KiB, tells when it has so many of them, and how many there were when there are no
// more. Arguments: the parent's endpoint, and the number of the first ones.
func collects(c *proc.Child) {
	ep, to := openChild(c, mx.AnyEndpoint, c.Number(0))
	first := uint64(c.Number(1))
	c.Say("open %d", ep.ID())
	for i := uint64(0); ; i++ {
		b := make([]byte, 1<<10)
		r, err := ep.IrecvFrom(b, to, i, mx.MatchMaskNone, nil)
		st := done(c, ep, r, err)
		if st.Code != mx.StatusSuccess {
			c.Say("received %d %v", i, st.Code)
			return
		}
		if string(b) != string(leaversMessage(len(b), i)) {
			c.Fail(fmt.Errorf("message %d is another one", i))
		}
		if i+1 == first {
			c.Say("has the first ones")
		}
	}
}

// What is complete when its sender closes is received also by a process that was stopped before it came, and that
// goes on when the sender has gone.
func TestSenderClosesWhileReceiverIsStopped(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	aboutShm(t)
	for _, media := range []string{"shm", "tcp"} {
		t.Run(media, func(t *testing.T) {
			const first, most = 5000, 50_000
			ep := open(t, mx.WithTransports(media, "self"))
			child := proc.StartWith(t, proc.Options{Env: []string{transportKey + "=" + media}}, "collects", ep.ID(), first)
			to := connect(t, ep, child.HearNumber("open"))
			var sends []mx.Request
			send := func() mx.Request {
				i := uint64(len(sends))
				sends = append(sends, must[mx.Request](t)(ep.Isend(leaversMessage(1<<10, i), to, i, nil)))
				return sends[i]
			}
			for range first {
				finish(t, ep, send())
			}
			child.Hear("has the first ones")
			child.Stop()
			complete := first
			for ; complete < most; complete++ {
				if _, ok, err := ep.Wait(send(), 300*time.Millisecond); err != nil {
					t.Fatal(err)
				} else if !ok {
					break
				}
			}
			if err := ep.Close(); err != nil {
				t.Fatal(err)
			}
			child.Signal(syscall.SIGCONT)
			received := int(child.HearNumber("received"))
			t.Logf("%d complete, %d received", complete, received)
			if received < complete {
				t.Errorf("%d messages were complete, and %d received", complete, received)
			}
		})
	}
}
