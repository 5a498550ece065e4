package mx_test

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"testing"

	"gomx/internal/testlength"
	"gomx/mx"
)

// The same history must give the same completions whatever carries it and
// whatever way its messages travel. One goroutine drives all endpoints. After
// each send it waits until the message has arrived, so that also the order in
// which messages of different senders meet is the same in every run.

// TestSameHistorySameCompletions runs seeded random histories over every
// transport and eager limit, and compares what became of each request.
func TestSameHistorySameCompletions(t *testing.T) {
	testlength.Long(t)
	seeds := uint64(4)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			var first []string
			for _, medium := range media {
				for _, eager := range []int{0, 1, -1, 64 << 10} {
					var log []string
					name := fmt.Sprintf("%s, eager limit %d", medium, eager)
					if !t.Run(name, func(t *testing.T) { log = play(newWorld(t, medium), seed, eager) }) {
						return
					}
					if first == nil {
						first = log
					}
					compare(t, name, log, first)
				}
			}
		})
	}
}

func compare(t *testing.T, name string, got, want []string) {
	t.Helper()
	if got == nil {
		return // skipped, which says why
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d outcomes, the first run had %d", name, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: outcome %d is\n%s\nin the first run it was\n%s", name, i, got[i], want[i])
		}
	}
}

// history drives endpoints by dice and notes what becomes of requests.
type history struct {
	w     *world
	rng   *rand.Rand
	eps   []*mx.Endpoint
	addrs [][]mx.EndpointAddr // addrs[i][j] is j as i knows it
	recvs []posted
	sends []posted
	log   []string
}

// posted is a request that was not collected yet.
type posted struct {
	number, at int
	r          mx.Request
	buf        []byte
}

func play(w *world, seed uint64, eager int) []string {
	h := &history{w: w, rng: rand.New(rand.NewPCG(seed, 1))}
	for range 2 + seed%2 {
		h.eps = append(h.eps, w.open(mx.WithEagerLimit(eager)))
	}
	for i, from := range h.eps {
		h.addrs = append(h.addrs, make([]mx.EndpointAddr, len(h.eps)))
		for j, to := range h.eps {
			if h.addrs[i][j] = from.Addr(); i != j {
				h.addrs[i][j] = w.connect(from, to)
			}
		}
	}
	for number := range 150 {
		switch at := h.rng.IntN(len(h.eps)); h.rng.IntN(10) {
		case 0, 1, 2, 3:
			h.send(number, at)
		case 4, 5, 6:
			h.receive(number, at)
		case 7, 8:
			h.probe(number, at)
		case 9:
			h.cancel(number)
		}
	}
	h.drain()
	return h.log
}

func (h *history) note(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

// length throws a message length: mostly small, sometimes up to 200 kB.
func (h *history) length() int {
	switch h.rng.IntN(4) {
	case 0:
		return 0
	case 1:
		return h.rng.IntN(100)
	case 2:
		return h.rng.IntN(10_000)
	}
	return h.rng.IntN(200_000)
}

// match throws match information out of few values, so that messages meet.
func (h *history) match() (value, mask uint64) {
	value = uint64(h.rng.IntN(3))<<32 | uint64(h.rng.IntN(3))
	mask = []uint64{exact, exact, exact, 0xffffffff, 0xffffffff << 32, everything}[h.rng.IntN(6)]
	return value & mask, mask
}

// balance rises by one with each message that arrives, matched or not.
func (h *history) balance(at int) int64 {
	var n int64
	for _, c := range h.eps[at].Counters() {
		switch c.Label {
		case "unexpected messages":
			n += int64(c.Value)
		case "posted receives":
			n -= int64(c.Value)
		}
	}
	return n
}

func (h *history) send(number, from int) {
	to := h.rng.IntN(len(h.eps))
	value, _ := h.match()
	buf := pattern(h.length(), byte(number))
	start := h.eps[from].Isendv
	if h.rng.IntN(3) == 0 {
		start = h.eps[from].Issendv
	}
	before := h.balance(to)
	r, err := start(cut(buf, 1+h.rng.IntN(4)), h.addrs[from][to], value, number)
	if err != nil {
		h.w.Fatal(err)
	}
	h.sends = append(h.sends, posted{number, from, r, buf})
	h.w.until("the message arrives", func() bool { return h.balance(to) == before+1 }, h.eps...)
}

func (h *history) receive(number, at int) {
	value, mask := h.match()
	buf := make([]byte, h.length())
	r, err := h.eps[at].Irecvv(cut(buf, 1+h.rng.IntN(4)), value, mask, number)
	if err != nil {
		h.w.Fatal(err)
	}
	h.recvs = append(h.recvs, posted{number, at, r, buf})
}

func (h *history) probe(number, at int) {
	value, mask := h.match()
	st, ok, err := h.eps[at].Iprobe(value, mask)
	if err != nil {
		h.w.Fatal(err)
	}
	h.note("%d: probe at %d: %v %s", number, at, ok, h.describe(at, st))
}

// cancel takes a receive back, or collects it if it is too late.
func (h *history) cancel(number int) {
	if len(h.recvs) == 0 {
		return
	}
	i := h.rng.IntN(len(h.recvs))
	h.end(number, h.recvs[i])
	h.recvs = slices.Delete(h.recvs, i, i+1)
}

func (h *history) end(number int, p posted) {
	cancelled, err := h.eps[p.at].Cancel(p.r)
	if err != nil {
		h.w.Fatal(err)
	}
	if cancelled {
		h.note("%d: receive %d at %d: cancelled, buffer %08x", number, p.number, p.at, crc32.ChecksumIEEE(p.buf))
		return
	}
	st := h.finish(p)
	h.note("%d: receive %d at %d: %s, buffer %08x", number, p.number, p.at, h.describe(p.at, st), crc32.ChecksumIEEE(p.buf))
}

func (h *history) finish(p posted) (st mx.Status) {
	h.w.until(fmt.Sprintf("request %d is complete", p.number), func() (ok bool) {
		var err error
		if st, ok, err = h.eps[p.at].Test(p.r); err != nil {
			h.w.Fatal(err)
		}
		return ok
	}, h.eps...)
	if st.Context != p.number {
		h.w.Errorf("request %d came back as %v", p.number, st.Context)
	}
	return st
}

func (h *history) describe(at int, st mx.Status) string {
	source := slices.Index(h.addrs[at], st.Source)
	return fmt.Sprintf("%v from %d, match %#x, %d of %d bytes", st.Code, source, st.MatchInfo, st.XferLength, st.MsgLength)
}

// drain ends all requests: receives first, then what is left unexpected, and
// then the sends, all of which must be complete by then.
func (h *history) drain() {
	for _, p := range h.recvs {
		h.end(-1, p)
	}
	for at, ep := range h.eps {
		for counter(h.w, ep, "unexpected messages") > 0 {
			r, err := ep.Irecv(make([]byte, 200_000), 0, everything, -2)
			if err != nil {
				h.w.Fatal(err)
			}
			h.note("left over at %d: %s", at, h.describe(at, h.finish(posted{-2, at, r, nil})))
		}
	}
	for _, p := range h.sends {
		st := h.finish(p)
		if st.Code != mx.StatusSuccess && st.Code != mx.StatusTruncated {
			h.w.Errorf("send %d: %v", p.number, st.Code)
		}
		// Whether its receiver had room only a rendezvous send learns.
		st.Code, st.XferLength = mx.StatusSuccess, st.MsgLength
		h.note("send %d at %d: %s", p.number, p.at, h.describe(p.at, st))
	}
	for _, ep := range h.eps {
		if n := counter(h.w, ep, "requests in use"); n != 0 {
			h.w.Errorf("%v: %d requests are left over", ep, n)
		}
	}
}
