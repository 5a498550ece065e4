//go:build linux

package processes_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
	"gomx/mx"
)

// What a victim is busy with when it is killed.
const (
	eager      = "eager"
	rendezvous = "rendezvous"
	alloc      = "alloc"
	blocks     = "blocks"
	connecting = "connecting"
	unexpected = "unexpected"
	waiting    = "waiting"
)

var occupations = []string{eager, rendezvous, alloc, blocks, connecting, unexpected, waiting}

// Match information: the round, and what the message is for.
const (
	fromVictim = 1
	toVictim   = 2
	nobodys    = 3
)

func matchOf(round int, what uint64) uint64 { return uint64(round)<<8 | what }

// victim does one thing until it is killed. Arguments: occupation, round, the
// parent's endpoint, its own.
func victim(c *proc.Child) {
	var round int
	_, _ = fmt.Sscan(c.Args[1], &round)
	ep, to := openChild(c, c.Number(3), c.Number(2))
	c.Say("ready")
	send := func(b []byte, what uint64) {
		r, err := ep.Isend(b, to, matchOf(round, what), nil)
		done(c, ep, r, err)
	}
	switch c.Args[0] {
	case eager:
		for b := make([]byte, 4096); ; {
			send(b[:rand.IntN(len(b))], fromVictim)
		}
	case rendezvous:
		for b := make([]byte, 1<<20); ; {
			send(b, fromVictim)
		}
	case alloc:
		b, err := mx.Alloc(1 << 20)
		if err != nil {
			c.Fail(err)
		}
		for {
			send(b, fromVictim)
		}
	case blocks:
		for b := make([]byte, 4<<20); ; {
			r, err := ep.Irecv(b, matchOf(round, toVictim), mx.MatchMaskNone, nil)
			done(c, ep, r, err)
		}
	case connecting:
		for {
			_ = ep.Disconnect(to)
			to, _ = ep.Connect(mustNIC(c), c.Number(2), filter, time.Second)
		}
	case unexpected:
		for range 2000 { // without waiting: most stay here, and only their headers go
			r, err := ep.Isend(make([]byte, 100), to, matchOf(round, nobodys), nil)
			if err == nil {
				err = ep.Forget(r)
			}
			if err != nil {
				c.Fail(err)
			}
		}
	}
	r, err := ep.Irecv(nil, 1, mx.MatchMaskNone, nil)
	done(c, ep, r, err)
}

func mustNIC(c *proc.Child) uint64 {
	nic, err := mx.BoardNumberToNICID(0)
	if err != nil {
		c.Fail(err)
	}
	return nic
}

// Children are killed at random moments of everything they can be busy with. What
// is pending with them ends with an error soon; a third process notices nothing.
var killings = flag.Int("processes.kills", 28, "how many peers TestKills kills")

func TestKills(t *testing.T) {
	testlength.Long(t)
	warmUp(t)
	before, files := proc.Held(t), filesOfOurs()
	ep := open(t)
	goneOn := keepGoing(t)
	kills := *killings
	if testing.Short() {
		kills = min(kills, 14)
	}
	id := uint32(2048 + os.Getpid()%1024) // the same for each child: it must be free again
	slowest := map[string]time.Duration{}
	rng := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	for round := 1; round <= kills; round++ {
		what := occupations[round%len(occupations)]
		took := killOne(t, ep, round, what, id, rng)
		slowest[what] = max(slowest[what], took)
	}
	for what, took := range slowest {
		t.Logf("killed while %-10s: requests ended at most %v later", what, took.Round(10*time.Microsecond))
	}
	goneOn()
	if err := ep.Close(); err != nil {
		t.Fatal(err)
	}
	if now := settled(t, before); now.Descriptors > before.Descriptors || now.Mappings > before.Mappings {
		t.Errorf("held before: %+v, after closing: %+v", before, now)
	}
	nothingLeft(t, files)
}

// killOne runs and kills one child, and returns how long its requests stayed
// pending after its end.
func killOne(t testing.TB, ep *mx.Endpoint, round int, what string, id uint32, rng *rand.Rand) time.Duration {
	t.Helper()
	o := proc.Options{}
	if what == blocks {
		o.Env = []string{"MX_SINGLE_COPY=0", "MX_ARENA=0"}
	}
	child := proc.StartWith(t, o, "victim", what, round, ep.ID(), id)
	child.Hear("ready")
	to := connect(t, ep, id)
	pending := []mx.Request{
		must[mx.Request](t)(ep.Isend(make([]byte, 1<<20), to, matchOf(round, nobodys), nil)),
		must[mx.Request](t)(ep.Issend(make([]byte, 8), to, matchOf(round, nobodys), nil)),
		must[mx.Request](t)(ep.Isend(make([]byte, 4<<20), to, matchOf(round, toVictim), nil)),
	}
	buf := make([]byte, 1<<20)
	receive := func() mx.Request {
		return must[mx.Request](t)(ep.Irecv(buf, matchOf(round, fromVictim), mx.MatchMaskNone, nil))
	}
	recv := receive()
	for end := time.Now().Add(time.Duration(rng.IntN(20_000)) * time.Microsecond); time.Now().Before(end); {
		if _, ok, err := ep.Wait(recv, time.Millisecond); err != nil {
			t.Fatal(err)
		} else if ok {
			recv = receive()
		}
	}
	child.Signal(syscall.SIGKILL)
	killed := time.Now()
	for i, r := range pending {
		st, ok, err := ep.Wait(r, promise)
		if err != nil || !ok {
			t.Fatalf("round %d, %s: request %d still pending %v after the kill (%v)", round, what, i, promise, err)
		}
		if i < 2 && st.Code == mx.StatusSuccess {
			t.Errorf("round %d, %s: request %d that nobody received: %v", round, what, i, st.Code)
		}
	}
	took := time.Since(killed)
	settleReceive(t, ep, recv, receive, round, what)
	child.Kill()
	return took
}

// settleReceive takes what is left of the dead child's messages, and the receive
// that is posted for the next one.
func settleReceive(t testing.TB, ep *mx.Endpoint, recv mx.Request, again func() mx.Request, round int, what string) {
	t.Helper()
	for {
		_, ok, err := ep.Wait(recv, time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			recv = again()
			continue
		}
		cancelled, err := ep.Cancel(recv)
		if err != nil {
			t.Fatal(err)
		}
		if cancelled {
			return
		}
		if _, ok, err := ep.Wait(recv, promise); err != nil || !ok {
			t.Fatalf("round %d, %s: a matched receive still pends after %v (%v)", round, what, promise, err)
		}
		return
	}
}

// keepGoing has another pair of processes exchange messages all the time. The
// returned function checks that it did.
func keepGoing(t testing.TB) (stop func()) {
	ep := open(t)
	child := proc.Start(t, "echo", ep.ID())
	peer := connect(t, ep, child.HearNumber("ready"))
	var trips atomic.Int64
	var end atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b, back := make([]byte, 100_000), make([]byte, 100_000)
		for i := uint64(0); !end.Load(); i++ {
			n := []int{8, 5000, 100_000}[i%3]
			roundTrip(t, ep, peer, i&0xffff, b[:n], back[:n])
			trips.Add(1)
			time.Sleep(time.Millisecond) // leave the processors to the others
		}
	}()
	return func() {
		t.Helper()
		const enough = 10
		for begin := time.Now(); trips.Load() < enough && time.Since(begin) < promise; {
			time.Sleep(time.Millisecond)
		}
		end.Store(true)
		<-ended
		t.Logf("the others made %d round trips meanwhile", trips.Load())
		if trips.Load() < enough {
			t.Error("the others have stood still")
		}
		child.Kill()
		_ = ep.Close()
	}
}

// warmUp makes the runtime open what it keeps open.
func warmUp(t testing.TB) {
	t.Helper()
	if err := open(t).Close(); err != nil {
		t.Fatal(err)
	}
	proc.Start(t, "nap").Kill()
}

// settled gives watchers of dead sockets and the like time to end.
func settled(t testing.TB, before proc.Resources) proc.Resources {
	var now proc.Resources
	for range 100 {
		now = proc.Held(t)
		if now.Descriptors <= before.Descriptors && now.Mappings <= before.Mappings {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return now
}

// filesOfOurs returns the files that this system has of us, or of whoever else uses
// our prefix.
func filesOfOurs() (names []string) {
	for _, dir := range []string{"/dev/shm", os.TempDir()} {
		list, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range list {
			if strings.HasPrefix(e.Name(), "gomx-") && !e.IsDir() { // folders are those of tests of other packages
				names = append(names, filepath.Join(dir, e.Name()))
			}
		}
	}
	return names
}

// nothingLeft looks for files of ours that were not there before.
func nothingLeft(t testing.TB, before []string) {
	t.Helper()
	for _, name := range filesOfOurs() {
		if !slices.Contains(before, name) {
			t.Errorf("left: %s", name)
		}
	}
}
