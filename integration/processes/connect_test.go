//go:build linux

package processes_test

import (
	"errors"
	"flag"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
	"gomx/mx"
)

// opens opens an endpoint, whose number it tells, until its parent ends it.
func opens(c *proc.Child) {
	if err := mx.Init(); err != nil {
		c.Fail(err)
	}
	ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, filter)
	if err != nil {
		c.Fail(err)
	}
	c.Say("open %d", ep.ID())
	c.Hear()
}

// full opens an endpoint, and then all the files that it may but one.
func full(c *proc.Child) {
	if err := mx.Init(); err != nil {
		c.Fail(err)
	}
	ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, filter)
	if err != nil {
		c.Fail(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 100, Max: 100}); err != nil {
		c.Fail(err)
	}
	last, err := os.Open(os.DevNull)
	for f := last; err == nil; f, err = os.Open(os.DevNull) {
		last = f
	}
	_ = last.Close()
	c.Say("open %d", ep.ID())
	c.Hear()
}

// joins opens an endpoint, and connects to its parent when that says so.
func joins(c *proc.Child) {
	if err := mx.Init(); err != nil {
		c.Fail(err)
	}
	ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, filter)
	if err != nil {
		c.Fail(err)
	}
	c.Say("open")
	c.Hear()
	begin := time.Now()
	if _, err := ep.Connect(mustNIC(c), c.Number(0), filter, 10*time.Second); err != nil {
		c.Fail(err)
	}
	c.Say("connected %d", time.Since(begin).Milliseconds())
	c.Hear()
}

// overBoth runs a test over shared memory and over TCP, and gives it a peer of one
// endpoint.
func overBoth(t *testing.T, f func(t *testing.T, ep *mx.Endpoint, peer *proc.Process, id uint32), params ...mx.Param) {
	t.Parallel()
	for _, media := range []string{"shm,tcp", "tcp"} {
		t.Run(media, func(t *testing.T) {
			t.Parallel()
			aboutShm(t)
			ep := open(t, append(params, mx.WithTransports(strings.Split(media, ",")...))...)
			peer := proc.StartWith(t, proc.Options{Env: []string{transportKey + "=" + media}}, "opens")
			f(t, ep, peer, peer.HearNumber("open"))
		})
	}
}

// A connect to a process that is stopped takes until its own time is up, or until the
// process goes on, however long transports give one attempt.
func TestConnectWaitsForAStoppedPeer(t *testing.T) {
	testlength.Long(t)
	overBoth(t, func(t *testing.T, ep *mx.Endpoint, peer *proc.Process, id uint32) {
		peer.Stop()
		begin := time.Now()
		_, err := ep.Connect(board(t), id, filter, 300*time.Millisecond)
		if !errors.Is(err, mx.ErrTimeout) || time.Since(begin) < 300*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		r := must[mx.Request](t)(ep.Iconnect(board(t), id, filter, 0, nil))
		if _, done, err := ep.Wait(r, 9*time.Second); done || err != nil {
			t.Errorf("a connect without bound ended: done %v, error %v", done, err)
		}
		peer.Signal(syscall.SIGCONT)
		if st := finish(t, ep, r); st.Code != mx.StatusSuccess {
			t.Error("when the peer went on:", st.Code)
		}
		for _, p := range ep.Peers() {
			if first, _, _ := strings.Cut(strings.TrimPrefix(t.Name(), "TestConnectWaitsForAStoppedPeer/"), ","); p.Transport != first {
				t.Errorf("over %s", p.Transport)
			}
		}
	})
}

// A connect to a process that has no file descriptors left says that this may be why.
func TestConnectToAProcessWithoutDescriptors(t *testing.T) {
	testlength.Long(t)
	for _, media := range []string{"shm", "tcp"} {
		t.Run(media, func(t *testing.T) {
			aboutShm(t)
			ep := open(t, mx.WithTransports(media))
			peer := proc.StartWith(t, proc.Options{Env: []string{transportKey + "=" + media}}, "full")
			id := peer.HearNumber("open")
			var err error
			for range 20 { // between two attempts to reach it nothing is known
				if _, err = ep.Connect(board(t), id, filter, 300*time.Millisecond); !errors.Is(err, mx.ErrTimeout) {
					t.Fatalf("error %v, want %v", err, mx.ErrTimeout)
				}
				if strings.Contains(err.Error(), "out of file descriptors (ulimit -n)") {
					return
				}
			}
			t.Errorf("error %q does not name file descriptors", err)
		})
	}
}

// What waits for a stopped process ends after the request timeout, and so does the
// session. When the process goes on it can be connected to again (XII.1.2).
func TestRequestTimeoutOfAStoppedPeer(t *testing.T) {
	testlength.Long(t)
	overBoth(t, func(t *testing.T, ep *mx.Endpoint, peer *proc.Process, id uint32) {
		to := connect(t, ep, id)
		peer.Stop()
		for name, r := range map[string]mx.Request{
			"large":       must[mx.Request](t)(ep.Isend(make([]byte, 8<<20), to, 1, nil)),
			"synchronous": must[mx.Request](t)(ep.Issend(make([]byte, 8), to, 2, nil)),
			"unpaid":      unpaid(t, ep, to),
		} {
			if st := finish(t, ep, r); st.Code != mx.StatusTimeout {
				t.Errorf("%s: %v", name, st.Code)
			}
		}
		if st := finish(t, ep, must[mx.Request](t)(ep.Isend(nil, to, 3, nil))); st.Code == mx.StatusSuccess {
			t.Error("the session goes on")
		}
		peer.Signal(syscall.SIGCONT)
		connect(t, ep, id)
	}, mx.WithRequestTimeout(time.Second))
}

// unpaid returns a small send that waits for credit.
func unpaid(t *testing.T, ep *mx.Endpoint, to mx.EndpointAddr) mx.Request {
	for range 1000 {
		r := must[mx.Request](t)(ep.Isend(make([]byte, 100), to, 4, nil))
		if _, done, err := ep.Test(r); err != nil {
			t.Fatal(err)
		} else if !done {
			return r
		}
	}
	t.Fatal("the peer gives credit though it is stopped")
	panic("unreachable")
}

var crowdSize = flag.Int("processes.crowd", 100, "processes that connect at once in TestCrowdThatConnectsAtOnce")

// Very many processes that connect at once all get through, over shared memory.
func TestCrowdThatConnectsAtOnce(t *testing.T) {
	aboutShm(t)
	n := *crowdSize
	if testing.Short() {
		n = 20
	}
	ep := open(t)
	crowd := make([]*proc.Process, n)
	for i := range crowd {
		crowd[i] = proc.Start(t, "joins", ep.ID())
	}
	for _, p := range crowd {
		p.Hear("open")
	}
	for _, p := range crowd {
		p.Say("connect")
	}
	longest := uint32(0)
	for _, p := range crowd {
		longest = max(longest, p.HearNumber("connected"))
	}
	for _, p := range ep.Peers() {
		if p.Transport != "shm" {
			t.Errorf("a peer is reached over %q", p.Transport)
		}
	}
	t.Logf("%d processes: the last one was connected after %d ms", n, longest)
}
