//go:build linux

package hostile_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
	"gomx/mx"
)

// How a scribbler writes over the memory that it shares with its peer.
const (
	nonsense = "nonsense" // frames of no known kind, with stamps that look new
	anywhere = "anywhere" // random bytes all over the segment
	slots    = "slots"    // random bytes over headers and positions only
	plain    = "frames"   // frames of known kinds with random contents
)

// The segment of a pair, as docs/wire.md describes it.
const (
	pageSize = 4096
	ringSize = 64 + 512*64 + 1<<20
	ringSpan = (ringSize + pageSize - 1) &^ (pageSize - 1)
	tables   = 2 * 8 * 65536 // of exports, before the rings
)

// scribbler exchanges messages with its parent, and writes over their shared
// memory meanwhile. Arguments: the parent's endpoint, the manner, a seed.
func scribbler(c *proc.Child) {
	ep, to := openChild(c)
	base, err := pairSegment()
	if err != nil {
		c.Fail(err)
	}
	mem, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		c.Fail(err)
	}
	b := make([]byte, 1<<20)
	for i := range 50 {
		_, _ = ep.Isend(b[:i*50], to, uint64(i), nil)
	}
	_, _ = ep.Isend(b, to, 100, nil)
	rng := rand.New(rand.NewPCG(uint64(c.Number(2)), 7))
	go func() {
		for i := uint64(0); ; i++ { // traffic while the memory changes
			r, err := ep.Isend(b[:rng.IntN(3000)], to, i, nil)
			if err == nil {
				_, _, _ = ep.Wait(r, time.Millisecond)
			}
		}
	}()
	noise := rand.New(rand.NewPCG(uint64(c.Number(2)), 8))
	for i := 0; ; i++ {
		at, bytes := scribble(noise, c.Args[1])
		_, _ = mem.WriteAt(bytes, base+at)
		if i == 1000 {
			c.Say("scribbled")
		}
	}
}

// scribble returns what to write where.
func scribble(rng *rand.Rand, manner string) (at int64, b []byte) {
	ring := tables + int64(rng.IntN(2))*ringSpan
	slot := ring + 64 + int64(rng.IntN(512))*64
	b = make([]byte, 1+rng.IntN(64))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	switch manner {
	case anywhere:
		return rng.Int64N(tables + 2*ringSpan - 64), b
	case slots:
		return ring + rng.Int64N(64+512*64-64), b
	case nonsense:
		return slot, []byte{0xff, 0, byte(1 + rng.IntN(4)), 0}
	}
	b = append(b, make([]byte, 64)...)[:64]
	b[0], b[1], b[2], b[3] = byte(1+rng.IntN(11)), byte(rng.IntN(16)), byte(1+rng.IntN(4)), 0
	b[6], b[7] = byte(rng.IntN(2)), 0
	return slot, b
}

// pairSegment returns where the memory shared with the peer lies.
func pairSegment() (int64, error) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.Contains(s.Text(), "memfd:gomx-pair") {
			var from int64
			_, err := fmt.Sscanf(s.Text(), "%x-", &from)
			return from, err
		}
	}
	return 0, fmt.Errorf("no segment of a pair in /proc/self/maps")
}

// A peer that writes over the shared memory in any manner harms only itself.
func TestScribblers(t *testing.T) {
	testlength.Long(t)
	ep := open(t)
	good := proc.Start(t, "echo", ep.ID())
	toGood := connect(t, ep, good.HearNumber("ready"))
	rounds := 6
	if testing.Short() {
		rounds = 1
	}
	for _, manner := range []string{nonsense, anywhere, slots, plain} {
		for seed := range rounds {
			beside(t, ep, toGood, manner, seed)
		}
		// Whether a frame of nonsense hits the slot whose turn it is, is chance.
		for seed := rounds; manner == nonsense && seed < 8 && counter(ep, "corrupt links or frames") == 0; seed++ {
			beside(t, ep, toGood, manner, seed)
		}
		t.Logf("after %-8s: corrupt %d, malformed %d, stale %d, bad session %d, pulls failed %d", manner,
			counter(ep, "corrupt links or frames"), counter(ep, "drop: malformed"), counter(ep, "drop: stale"),
			counter(ep, "drop: bad session"), counter(ep, "get rendezvous that failed"))
		if manner == nonsense && counter(ep, "corrupt links or frames") == 0 {
			t.Error("frames of no known kind were not counted")
		}
	}
}

// beside exchanges messages with a good peer while a bad one scribbles.
func beside(t *testing.T, ep *mx.Endpoint, toGood mx.EndpointAddr, manner string, seed int) {
	t.Helper()
	bad := proc.Start(t, "scribbler", ep.ID(), manner, seed)
	id := bad.HearNumber("ready")
	nic := must[uint64](t)(mx.BoardNumberToNICID(0))
	var pending []mx.Request
	if toBad, err := ep.Connect(nic, id, filter, 200*time.Millisecond); err == nil {
		for _, n := range []int{0, 8, 1000, 20_000, 1 << 20} {
			for i := range 3 {
				pending = append(pending, must[mx.Request](t)(ep.Isend(make([]byte, n), toBad, uint64(i), nil)),
					must[mx.Request](t)(ep.Issend(make([]byte, n), toBad, uint64(i), nil)))
			}
		}
	}
	large := must[mx.Request](t)(ep.Irecv(make([]byte, 1<<20), 100, mx.MatchMaskNone, nil))
	for i := range 10 {
		roundTrips(t, ep, toGood, uint64(1+i)<<40)
	}
	bad.Hear("scribbled")
	for i := range 10 {
		roundTrips(t, ep, toGood, uint64(1+i)<<40)
	}
	bad.Kill()
	for i, r := range pending {
		if _, ok, err := ep.Wait(r, promise); err != nil || !ok {
			t.Errorf("%s, seed %d: send %d of %d to the dead scribbler still pends (%v)", manner, seed, i, len(pending), err)
		}
	}
	if cancelled, err := ep.Cancel(large); err != nil {
		t.Fatal(err)
	} else if !cancelled {
		if _, ok, err := ep.Wait(large, promise); err != nil || !ok {
			t.Errorf("%s, seed %d: receive from the dead scribbler still pends (%v)", manner, seed, err)
		}
	}
}
