//go:build linux

package processes_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gomx/integration/internal/devices"
	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
	"gomx/mx"
)

// compute posts receives for large messages, and then computes without calling the library until its parent says that it is enough.
func compute(c *proc.Child) {
	ep, _ := openChild(c, mx.AnyEndpoint, c.Number(0))
	buf := make([]byte, 4<<20)
	var posted []mx.Request
	for i := range 4 {
		r, err := ep.Irecv(buf[i<<20:][:1<<20], uint64(i), mx.MatchMaskNone, nil)
		if err != nil {
			c.Fail(err)
		}
		posted = append(posted, r)
	}
	c.Say("ready %d", ep.ID())
	var enough atomic.Bool
	go func() {
		c.Hear()
		enough.Store(true)
	}()
	x := uint64(1)
	for !enough.Load() {
		for range 1000 {
			x ^= x << 13
			x ^= x >> 7
		}
	}
	c.Say("computed %d", x)
	for _, r := range posted {
		if st := done(c, ep, r, nil); st.Code != mx.StatusSuccess {
			c.Fail(st.Code)
		}
	}
	c.Say("received")
	c.Hear()
}

// Large sends to a process that computes complete before it calls again.
func TestPeerThatComputes(t *testing.T) {
	ep := open(t)
	child := proc.Start(t, "compute", ep.ID())
	to := connect(t, ep, child.HearNumber("ready"))
	begin := time.Now()
	for i := range 4 {
		r := must[mx.Request](t)(ep.Isend(make([]byte, 1<<20), to, uint64(i), nil))
		if st := finish(t, ep, r); st.Code != mx.StatusSuccess {
			t.Fatal(st.Code)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("4 sends of 1 MiB, 20 ms apart, took %v", time.Since(begin))
	child.Say("enough")
	child.Hear("computed")
	child.Hear("received")
}

// idleShare is how much of a core waiting may take, per cent. An emulated one takes
// longer for the same.
func idleShare() float64 {
	if devices.InMachine() {
		return 20
	}
	return 5
}

// An endpoint in which nothing arrives costs next to nothing, whether somebody
// waits in it or not.
func TestWaitingIsQuiet(t *testing.T) {
	testlength.Long(t)
	ep := open(t)
	child := proc.Start(t, "echo", ep.ID())
	connect(t, ep, child.HearNumber("ready"))
	for _, blocked := range []bool{true, false} {
		r := must[mx.Request](t)(ep.Irecv(nil, 1, mx.MatchMaskNone, nil))
		share := 100.0
		for range 3 { // a collection of garbage may come into one of them
			begin, since := cpuTime(t), time.Now()
			if blocked {
				_, _, _ = ep.Wait(r, time.Second)
			} else {
				time.Sleep(time.Second)
			}
			share = min(share, 100*float64(cpuTime(t)-begin)/float64(time.Since(since)))
			if share <= idleShare() {
				break
			}
		}
		t.Logf("blocked in Wait: %v: %.2f %% of a core", blocked, share)
		if share > idleShare() {
			t.Errorf("blocked in Wait: %v: %.2f %% of a core while nothing happens", blocked, share)
		}
		if _, err := ep.Cancel(r); err != nil {
			t.Fatal(err)
		}
	}
}

// hop passes a token on to the next rank. Arguments: its own endpoint, the next
// one, the hops it makes, its rank, the spin time.
func hop(c *proc.Child) {
	spin, _ := time.ParseDuration(c.Args[4])
	if err := mx.Init(); err != nil {
		c.Fail(err)
	}
	ep, err := mx.OpenEndpoint(0, c.Number(0), filter, mx.WithSpin(spin))
	if err != nil {
		c.Fail(err)
	}
	c.Say("open")
	c.Hear()
	next, err := ep.Connect(mustNIC(c), c.Number(1), filter, 10*time.Second)
	if err != nil {
		c.Fail(err)
	}
	c.Say("connected")
	c.Hear()
	var b [8]byte
	first := c.Number(3) == 0
	for range c.Number(2) {
		if first {
			r, err := ep.Isend(b[:], next, 1, nil)
			done(c, ep, r, err)
		}
		r, err := ep.Irecv(b[:], 1, mx.MatchMaskNone, nil)
		done(c, ep, r, err)
		if !first {
			r, err = ep.Isend(b[:], next, 1, nil)
			done(c, ep, r, err)
		}
	}
	c.Say("around")
	c.Hear()
}

// ring runs a token around some ranks, and returns the time per hop.
func ring(t testing.TB, ranks, laps int, spin time.Duration) time.Duration {
	t.Helper()
	skipWithoutMedium(t)
	base := 3072 + os.Getpid()%900
	var all []*proc.Process
	for i := range ranks {
		all = append(all, proc.Start(t, "hop", base+i, base+(i+1)%ranks, laps, i, spin))
	}
	for _, said := range []string{"open", "connected"} {
		for _, p := range all {
			p.Hear(said)
		}
		if said == "connected" {
			break
		}
		for _, p := range all {
			p.Say("go on")
		}
	}
	begin := time.Now()
	for _, p := range all {
		p.Say("run")
	}
	for _, p := range all {
		p.Hear("around")
	}
	took := time.Since(begin)
	for _, p := range all {
		p.Kill()
	}
	return took / time.Duration(ranks*laps)
}

// More ranks than processors, and ranks that sleep between messages, get on.
func TestRings(t *testing.T) {
	hops := 10_000
	if testing.Short() {
		hops = 2000
	}
	const spin, sleep = 50 * time.Microsecond, 0
	t.Logf("4 ranks, spinning: %v a hop", ring(t, 4, hops/4, spin))
	t.Logf("4 ranks, sleeping: %v a hop", ring(t, 4, hops/4, sleep))
	t.Logf("2 ranks, spinning: %v half a round trip", ring(t, 2, hops/2, spin))
	t.Logf("2 ranks, sleeping: %v half a round trip", ring(t, 2, hops/2, sleep))
}

// idlePeer has several endpoints, connected to the parent's.
func idlePeer(c *proc.Child) {
	c.Hear()
	if err := mx.Init(); err != nil {
		c.Fail(err)
	}
	for range c.Number(1) {
		ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, filter)
		if err != nil {
			c.Fail(err)
		}
		if _, err := ep.Connect(mustNIC(c), c.Number(0), filter, 10*time.Second); err != nil {
			c.Fail(err)
		}
	}
	c.Say("ready")
	c.Hear()
}

// An endpoint with many connected peers that say nothing takes little memory.
func TestMemoryOfIdlePeers(t *testing.T) {
	aboutShm(t)
	if grown := idlePeers(t); grown > 16<<20 {
		t.Errorf("%d idle peers cost %d bytes of resident memory", idleCount, grown)
	}
}

const idleCount = 64

// idlePeers connects 64 endpoints of other processes to one of ours, and returns
// by how many bytes our resident memory grew.
func idlePeers(t testing.TB) int {
	ep := open(t)
	const children = 4
	started := make([]*proc.Process, children)
	for i := range started { // whose pipes and goroutines count as little as what the first peer takes
		started[i] = proc.Start(t, "idle", ep.ID(), idleCount/children)
	}
	before, held, goroutines := resident(t), proc.Held(t), runtime.NumGoroutine()
	for _, p := range started {
		p.Say("connect")
		p.Hear("ready")
	}
	grown, files, more := resident(t)-before, proc.Held(t).Descriptors-held.Descriptors, runtime.NumGoroutine()-goroutines
	t.Logf("%d idle peers: %.1f MiB resident, %d descriptors and %d goroutines more", idleCount, float64(grown)/(1<<20), files, more)
	if files > 2*idleCount+20 || more > idleCount/2 {
		t.Errorf("%d idle peers cost %d descriptors and %d goroutines", idleCount, files, more)
	}
	return grown
}

func resident(t testing.TB) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc here:", err)
	}
	_, line, _ := strings.Cut(string(status), "\nVmRSS:")
	var kib int
	if _, err := fmt.Sscan(line, &kib); err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

// No wake-up is lost: receivers sleep, and messages come after delays that hit
// every moment of falling asleep.
func TestNoWakeUpIsLost(t *testing.T) {
	ep := open(t, mx.WithSpin(0))
	child := proc.StartWith(t, proc.Options{Env: []string{"MX_SPIN=0"}}, "echo", ep.ID())
	to := connect(t, ep, child.HearNumber("ready"))
	rounds := 20_000
	if testing.Short() {
		rounds = 4000
	}
	b, back := make([]byte, 8), make([]byte, 8)
	rng := rand.New(rand.NewPCG(1, uint64(os.Getpid())))
	sum := 0
	for i := range rounds {
		for range rng.IntN(2000) {
			sum++
		}
		b[0] = byte(i)
		roundTrip(t, ep, to, uint64(i), b, back)
	}
	_ = sum
}

// Goroutines blocked in all kinds of calls, with messages of other processes for
// each: none hangs.
func TestCrowdOfGoroutines(t *testing.T) {
	ep := open(t)
	child := proc.Start(t, "echo", ep.ID())
	to := connect(t, ep, child.HearNumber("ready"))
	each := 400
	if testing.Short() {
		each = 50
	}
	var all sync.WaitGroup
	for g := range uint64(8) {
		all.Go(func() {
			b, back := make([]byte, 20_000), make([]byte, 20_000)
			for i := range uint64(each) {
				match := g<<24 | i
				n := []int{8, 100, 20_000}[i%3]
				s, err := ep.Isend(b[:n], to, match, nil)
				if err != nil {
					t.Error(err)
					return
				}
				_, done, err := ep.Wait(s, 20*time.Second)
				if g%2 == 0 && done {
					_, done, err = ep.Probe(20*time.Second, match|1<<32, mx.MatchMaskNone)
				}
				if !done || err != nil {
					t.Errorf("goroutine %d, message %d: %v %v", g, i, done, err)
					return
				}
				r, err := ep.Irecv(back[:n], match|1<<32, mx.MatchMaskNone, nil)
				if err != nil {
					t.Error(err)
					return
				}
				switch g % 3 {
				case 0:
					_, done, err = ep.Wait(r, 20*time.Second)
				default:
					_, done, err = ep.WaitAny(20*time.Second, match|1<<32, mx.MatchMaskNone)
				}
				if !done || err != nil {
					t.Errorf("goroutine %d, answer %d: %v %v", g, i, done, err)
					return
				}
			}
		})
	}
	all.Wait()
}
