//go:build linux

package tcp_test

import (
	"flag"
	"math/rand/v2"
	"testing"

	"gomx/integration/internal/proxy"
	"gomx/integration/internal/traffic"
	"gomx/internal/testlength"
	"gomx/transport/wire"
)

// The numbers of the endpoints left and right of the proxies.
const (
	leftID  = 1
	rightID = 2
)

// apart starts two peers that meet through proxies only: each takes the other
// one's ports for its own. The proxies cut as told.
func apart(t testing.TB, cut func() (int64, bool), env ...string) (left, right *traffic.Peer, cuts func() int64) {
	t.Helper()
	cuts = between(t, rightID, cut)
	return start(t, leftPorts, leftID, env...), start(t, rightPorts, rightID, env...), cuts
}

// between starts proxies between the left peer and a right one of the given number, and returns how many cuts they have made.
func between(t testing.TB, id int, cut func() (int64, bool)) (cuts func() int64) {
	t.Helper()
	var proxies []*proxy.Proxy
	for _, o := range []proxy.Options{
		{Listen: leftPorts + id, To: rightPorts + id, Cut: cut},
		{Listen: rightPorts + leftID, To: leftPorts + leftID, Cut: cut},
	} {
		if o.Listen == rightPorts+leftID && id != rightID {
			continue // the first one serves all
		}
		p, err := proxy.Start(o)
		if err != nil {
			t.Skip("the ports of this test are taken: ", err)
		}
		t.Cleanup(p.Close)
		proxies = append(proxies, p)
	}
	return func() (all int64) {
		for _, p := range proxies {
			all += p.Cuts()
		}
		return all
	}
}

var adds = flag.Int("tcp.adds", 20_000, "fetch-and-adds of each origin in TestSumOverCutConnections")

// Four peers add to one number of a fifth, through connections that are cut again and again. Each addition is carried out once.
func TestSumOverCutConnections(t *testing.T) {
	testlength.Long(t)
	const adders = 4
	seed, count := rand.Uint64(), scale(*adds)
	t.Log("seed", seed)
	cut := proxy.About(int64(2*count), seed)
	var peers []*traffic.Peer
	var to []uint32
	var cuts []func() int64
	for id := rightID; id < rightID+adders; id++ {
		cuts = append(cuts, between(t, id, cut))
	}
	owner := start(t, leftPorts, leftID)
	for id := rightID; id < rightID+adders; id++ {
		p := start(t, rightPorts, id)
		peers, to = append(peers, p), append(to, p.Connect(host, leftID))
	}
	traffic.AddFrom(t, owner, peers, to, count)
	all := int64(0)
	for _, of := range cuts {
		all += of()
	}
	t.Logf("%d additions of each of %d peers, %d cuts", count, adders, all)
	if all < adders*3 {
		t.Errorf("only %d cuts", all)
	}
}

// A connection that is cut every 10,000 messages loses and doubles none of them.
func TestConnectionCutOften(t *testing.T) {
	const perCut = 10_000
	count := scale(1_000_000)
	a, b, cuts := apart(t, proxy.Every(perCut*(wire.BaseSize+8)))
	to := a.Connect(host, rightID)
	b.Sink(1, count, traffic.Small)
	a.Stream(to, count, traffic.Small)
	a.Streamed()
	b.Sunk()
	t.Logf("%d messages, %d cuts", count, cuts())
	if got := cuts(); got < int64(count/perCut/2) {
		t.Errorf("only %d cuts", got)
	}
}

// Cuts at random, in the midst of frames of all kinds, both ways at once.
func TestConnectionCutAnywhere(t *testing.T) {
	testlength.Long(t)
	seed := rand.Uint64()
	t.Log("seed", seed)
	for _, c := range []struct {
		name  string
		sizes traffic.Sizes
		count int
		mean  int64
	}{
		{"small", traffic.Small, 100_000, 50_000}, {"mixed", traffic.Mixed, 10_000, 2_000_000}, {"mixed, hardly a message at a time", traffic.Mixed, 500, 150_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			count := scale(c.count)
			a, b, cuts := apart(t, proxy.About(c.mean, seed))
			toB, toA := a.Connect(host, rightID), b.Connect(host, leftID)
			exchange(t, a, b, toB, toA, count, c.sizes)
			t.Logf("%d messages each way, %d cuts", count, cuts())
			if cuts() < 3 {
				t.Error("that was hardly a test")
			}
		})
	}
}

// The cost of cuts: the same messages past no proxy, through proxies that cut
// nothing, and through proxies that cut every 10,000 messages.
func BenchmarkCuts(b *testing.B) {
	const count, perCut = 1_000_000, 10_000
	run := func(b *testing.B, left, right *traffic.Peer) {
		to := left.Connect(host, rightID)
		for b.Loop() {
			right.Sink(1, count, traffic.Small)
			left.Stream(to, count, traffic.Small)
			left.Streamed()
			right.Sunk()
		}
		b.ReportMetric(count*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mmsg/s")
	}
	b.Run("direct", func(b *testing.B) {
		run(b, start(b, leftPorts, leftID), start(b, leftPorts, rightID))
	})
	b.Run("uncut", func(b *testing.B) {
		left, right, _ := apart(b, nil)
		run(b, left, right)
	})
	b.Run("cut", func(b *testing.B) {
		left, right, cuts := apart(b, proxy.Every(perCut*(wire.BaseSize+8)))
		run(b, left, right)
		b.ReportMetric(float64(cuts())/float64(b.N), "cuts/op")
	})
}
