//go:build linux

package processes_test

import (
	"syscall"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
	"gomx/mx"
)

// nap does nothing until its parent ends it.
func nap(c *proc.Child) { c.Hear() }

// A process that is stopped holds up nobody but those who wait for it, and goes
// on where it was.
func TestStoppedPeer(t *testing.T) {
	ep := open(t)
	stopped := proc.Start(t, "echo", ep.ID())
	toStopped := connect(t, ep, stopped.HearNumber("ready"))
	stopped.Stop()
	goneOn := keepGoing(t)

	// More than its ring takes, so that sends wait in our queue, and a large one.
	const n = 3000
	b := make([]byte, 1000)
	var sends []mx.Request
	for i := range n {
		sends = append(sends, must[mx.Request](t)(ep.Isend(b, toStopped, uint64(i), nil)))
	}
	large := must[mx.Request](t)(ep.Isend(make([]byte, 1<<20), toStopped, n, nil))
	if _, done, err := ep.Wait(large, 20*time.Millisecond); done || err != nil {
		t.Errorf("large send to a stopped process: done %v, error %v", done, err)
	}
	if st := finish(t, ep, must[mx.Request](t)(ep.Isend(b, ep.Addr(), 1, nil))); st.Code != mx.StatusSuccess {
		t.Error("message to ourselves:", st.Code)
	}
	time.Sleep(50 * time.Millisecond)
	goneOn()

	stopped.Signal(syscall.SIGCONT)
	back := make([]byte, 1<<20)
	for i := range n + 1 {
		r := must[mx.Request](t)(ep.Irecv(back, uint64(i)|1<<32, mx.MatchMaskNone, nil))
		if st := finish(t, ep, r); st.Code != mx.StatusSuccess {
			t.Fatalf("answer %d: %v", i, st.Code)
		}
	}
	for _, r := range append(sends, large) {
		if st := finish(t, ep, r); st.Code != mx.StatusSuccess {
			t.Fatal(st.Code)
		}
	}
}

// A peer that dies after it has filled our store with messages that nobody
// receives: what came whole stays to be received, the wait for its end costs no
// processor time, and requests of other peers go on.
func TestPeerDiesBehindAFullStore(t *testing.T) {
	testlength.Long(t)
	ep := open(t, mx.WithUnexpQueueMax(16<<10))
	child := proc.Start(t, "victim", unexpected, 1, ep.ID(), mx.AnyEndpoint)
	child.Hear("ready")
	st, ok, err := ep.Probe(20*time.Second, matchOf(1, nobodys), mx.MatchMaskNone)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	pending := must[mx.Request](t)(ep.Issend(nil, st.Source, 9, nil))
	for begin := time.Now(); counterOf(ep, "unexpected messages") < 2000; {
		if time.Sleep(time.Millisecond); time.Since(begin) > promise {
			t.Fatalf("%d messages and headers have come, of 2000", counterOf(ep, "unexpected messages"))
		}
	}
	child.Kill()
	if _, ok, err := ep.Wait(pending, promise); !ok || err != nil {
		t.Errorf("a request of the dead peer still pends after %v (%v)", promise, err)
	}
	stored := counterOf(ep, "unexpected messages")
	if stored < 20 || stored > 200 {
		t.Errorf("%d messages came whole, into a store of 32 KiB", stored)
	}
	goneOn := keepGoing(t)
	begin, since := cpuTime(t), time.Now()
	_, _, _ = ep.Wait(must[mx.Request](t)(ep.Irecv(nil, 5, mx.MatchMaskNone, nil)), 500*time.Millisecond)
	t.Logf("waiting behind a full store took %.1f %% of a core, the round trips beside it included",
		100*float64(cpuTime(t)-begin)/float64(time.Since(since)))
	goneOn()
	got := uint64(0)
	for {
		r := must[mx.Request](t)(ep.Irecv(make([]byte, 100), matchOf(1, nobodys), mx.MatchMaskNone, nil))
		if _, ok, err := ep.Wait(r, 100*time.Millisecond); err != nil {
			t.Fatal(err)
		} else if !ok {
			_, _ = ep.Cancel(r)
			break
		}
		got++
	}
	if got != stored {
		t.Errorf("%d messages of the dead peer were received, of %d that had come whole", got, stored)
	}
}

// cpuTime returns the processor time this process has used.
func cpuTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
