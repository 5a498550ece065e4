//go:build linux

package rdma_test

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gomx/integration/internal/proc"
	"gomx/integration/internal/traffic"
	"gomx/mx"
)

// echo sends back what comes, and says what processor time that took whenever it is
// asked. It waits in the library, or with the first argument "descriptor" on the
// endpoint's descriptor. The others: the parent's host and endpoint.
func echo(c *proc.Child) {
	ep := open(c)
	check := func(err error) {
		if err != nil {
			c.Fail(err)
		}
	}
	to, err := ep.Connect(nicOf(c.Args[1]), c.Number(2), traffic.Filter, 20*time.Second)
	check(err)
	c.Say("ready %d", ep.ID())
	go func() {
		for {
			c.Hear()
			c.Say("used %v", used())
		}
	}()
	wait := func(r mx.Request) {
		_, _, err := ep.Wait(r, mx.Infinite)
		check(err)
	}
	if c.Args[0] == "descriptor" {
		wait = func(r mx.Request) { check(waitOutside(ep, r)) }
	}
	b := make([]byte, 1<<20)
	for {
		r, err := ep.Irecv(b, 0, 1, nil) // even numbers
		check(err)
		wait(r)
		r, err = ep.Isend(b[:8], to, 1, nil)
		check(err)
		wait(r)
	}
}

// waitOutside waits for a request on the endpoint's descriptor.
func waitOutside(ep *mx.Endpoint, r mx.Request) error {
	fd, err := ep.PollFD()
	if err != nil {
		return err
	}
	for {
		if _, done, err := ep.Test(r); done || err != nil {
			return err
		}
		armed, err := ep.Arm()
		if err != nil {
			return err
		}
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		for armed {
			n, err := unix.Poll(fds, -1)
			if n > 0 {
				break
			}
			if !errors.Is(err, unix.EINTR) {
				return err
			}
		}
	}
}

// used returns the processor time of this process.
func used() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Two processes that wait for each other cost next to nothing, whichever way they
// wait, and a message wakes them.
func TestSleep(t *testing.T) {
	needRDMA(t)
	for _, how := range []string{"inside", "descriptor"} {
		t.Run(how, func(t *testing.T) {
			w := sameDevice(t)
			ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, traffic.Filter, mx.WithTransports("rdma"))
			if err != nil {
				t.Fatal(err)
			}
			defer ep.Close()
			child := proc.StartWith(t, over(w.right), "echo", how, w.left.host, ep.ID())
			to, err := ep.Connect(nicOf(w.right.host), child.HearNumber("ready"), traffic.Filter, 20*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{8, 1 << 20} {
				quiet(t, ep, child)
				answered(t, ep, to, n)
			}
		})
	}
}

// answered sends n bytes and waits for the answer.
func answered(t *testing.T, ep *mx.Endpoint, to mx.EndpointAddr, n int) {
	t.Helper()
	recv, err := ep.Irecv(make([]byte, 8), 1, mx.MatchMaskNone, nil)
	if err != nil {
		t.Fatal(err)
	}
	send, err := ep.Isend(make([]byte, n), to, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []mx.Request{send, recv} {
		st, done, err := ep.Wait(r, 20*time.Second)
		if err != nil || !done || st.Code != mx.StatusSuccess {
			t.Fatalf("%d bytes: %v, %v, %v", n, st.Code, done, err)
		}
	}
}

// quiet waits for two seconds, and looks at what both processes have used meanwhile.
func quiet(t *testing.T, ep *mx.Endpoint, child *proc.Process) {
	t.Helper()
	r, err := ep.Irecv(nil, 3, mx.MatchMaskNone, nil)
	if err != nil {
		t.Fatal(err)
	}
	childUsed := func() (d time.Duration) {
		child.Say("how much?")
		d, err := time.ParseDuration(child.Hear("used "))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	// Who never sleeps uses all of it, in each attempt; on a slow machine whatever else is going on uses some.
	for attempt := 1; ; attempt++ {
		time.Sleep(100 * time.Millisecond) // what still goes on of the last message
		ours, theirs, since := used(), childUsed(), time.Now()
		if _, done, err := ep.Wait(r, 2*time.Second); done || err != nil {
			t.Fatal(done, err)
		}
		theirs, ours = childUsed()-theirs, used()-ours
		took := time.Since(since)
		t.Logf("in %v of waiting we used %v, the other process %v", took.Round(time.Millisecond), ours, theirs)
		if most := took / 10; ours <= most && theirs <= most {
			break
		}
		if attempt == 5 {
			t.Errorf("in %v of waiting we used %v, the other process %v", took, ours, theirs)
			break
		}
	}
	if _, err := ep.Cancel(r); err != nil {
		t.Fatal(err)
	}
}
