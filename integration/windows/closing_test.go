//go:build linux

package windows_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/mx"
)

// The target closes its window in the middle of puts and gets. Each ends, with
// success or with the status for it, and nothing is written later.
func TestTargetCloses(t *testing.T) {
	over(t, func(t *testing.T, medium string) {
		ep := open(t, medium)
		n := rounds(200)
		child, to := start(t, ep, medium, "closer", n)
		rng := rand.New(rand.NewPCG(1, 1))
		data, back := make([]byte, 1<<20), make([]byte, 1<<20)
		for i := range data {
			data[i] = byte(i) | 1
		}
		ended, refused := 0, 0
		for range n {
			h, err := hear(ep)
			if err != nil {
				t.Fatal(err)
			}
			var under []mx.Request
			for i := range 8 {
				size := []int{8, 3000, 1 << 20}[rng.IntN(3)]
				begin, b := ep.Iput, data[:size]
				if i%2 == 0 {
					begin, b = ep.Iget, back[:size]
				}
				r, err := begin(b, to, h, 0, 0, nil)
				if err != nil {
					t.Fatal(err)
				}
				under = append(under, r)
			}
			child.Say("close")
			for _, r := range under {
				st, done, err := ep.Wait(r, patience)
				if !done || err != nil {
					t.Fatalf("a put or get does not end: %v", err)
				}
				switch st.Code {
				case mx.StatusSuccess:
					ended++
				case mx.StatusBadRDMAWindow:
					refused++
				default:
					t.Fatalf("%+v", st)
				}
			}
			child.Say("look")
			child.Hear("clean")
		}
		t.Logf("%d puts and gets succeeded, %d were ended or refused", ended, refused)
		child.Say("end")
		if err := child.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// closerRole opens a window, closes it when it is told, and looks later whether it
// was written since.
func closerRole(c *proc.Child) {
	ep, to := meet(c)
	for i := range c.Number(2) {
		memory := make([]byte, 1<<20)
		win, err := ep.OpenWindow(memory, mx.WindowRead|mx.WindowWrite)
		if err != nil {
			c.Fail(err)
		}
		if err := tell(ep, to, win.Handle()); err != nil {
			c.Fail(err)
		}
		c.Hear()
		time.Sleep(time.Duration(i%8) * 100 * time.Microsecond) // other moments each time
		if err := win.Close(); err != nil {
			c.Fail(err)
		}
		clear(memory)
		c.Hear()
		if !bytes.Equal(memory, make([]byte, len(memory))) {
			c.Fail(fmt.Errorf("round %d: the window was written after it was closed", i))
		}
		c.Say("clean")
	}
	c.Hear()
}

// A target is killed in the middle of puts and gets: each ends, and the window of the
// survivor is in nobody's use.
func TestTargetIsKilled(t *testing.T) {
	over(t, func(t *testing.T, medium string) {
		rng := rand.New(rand.NewPCG(2, 1))
		for range max(2, rounds(20)) {
			killOne(t, medium, time.Duration(rng.IntN(5000))*time.Microsecond)
		}
	})
}

func killOne(t *testing.T, medium string, after time.Duration) {
	ep := open(t, medium)
	// Sessions over media that heal outlive a broken link for the request timeout.
	if err := ep.SetRequestTimeout(mx.Request{}, time.Second); err != nil {
		t.Fatal(err)
	}
	mine, err := ep.OpenWindow(make([]byte, 1<<20), mx.WindowRead|mx.WindowWrite)
	if err != nil {
		t.Fatal(err)
	}
	child, to := start(t, ep, medium, "idler")
	if err := tell(ep, to, mine.Handle()); err != nil {
		t.Fatal(err)
	}
	h, err := hear(ep)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1<<20)
	var under []mx.Request
	for killed, until := false, time.Now().Add(after); !killed || len(under) > 0; {
		for !killed && len(under) < 8 {
			begin := ep.Iput
			if len(under)%2 == 0 {
				begin = ep.Iget
			}
			r, err := begin(buf, to, h, 0, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			under = append(under, r)
		}
		if !killed && time.Now().After(until) {
			child.Signal(syscall.SIGKILL)
			killed = true
		}
		st, done, err := ep.Wait(under[0], patience)
		if !done || err != nil {
			t.Fatalf("a put or get is pending after its target was killed: %v", err)
		}
		if st.Code != mx.StatusSuccess && !killed {
			t.Fatalf("%+v", st)
		}
		under = under[1:]
	}
	child.Kill()
	if err := mine.Close(); err != nil {
		t.Error(err)
	}
	for _, c := range ep.Counters() {
		if (c.Label == "requests in use" || c.Label == "windows") && c.Value != 0 {
			t.Errorf("%s: %d", c.Label, c.Value)
		}
	}
	if err := ep.Close(); err != nil {
		t.Error(err)
	}
}

// idlerRole has a window and puts into that of its peer, until it is killed.
func idlerRole(c *proc.Child) {
	ep, to := meet(c)
	win, err := ep.OpenWindow(make([]byte, 1<<20), mx.WindowRead|mx.WindowWrite)
	if err != nil {
		c.Fail(err)
	}
	theirs, err := hear(ep)
	if err != nil {
		c.Fail(err)
	}
	if err := tell(ep, to, win.Handle()); err != nil {
		c.Fail(err)
	}
	for b := make([]byte, 1<<20); ; {
		r, err := ep.Iput(b, to, theirs, 0, 0, nil)
		if err != nil {
			c.Fail(err)
		}
		if err := ep.Finish(r, patience); err != nil {
			c.Fail(err)
		}
	}
}
