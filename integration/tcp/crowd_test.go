//go:build linux

package tcp_test

import (
	"syscall"
	"testing"
	"time"

	"gomx/integration/internal/traffic"
)

const (
	crowds   = 4 // processes with many endpoints each
	targetID = ports - 1
)

// crowd has endpoints of several processes connect to one, and returns it and them,
// how long that took and by how much the memory of the one has grown for each.
func crowd(t testing.TB, count int) (target *traffic.Peer, peers []*traffic.Peer, took time.Duration, perPeer float64) {
	t.Helper()
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil || files.Max < uint64(count+100) {
		t.Skipf("a process may have %d descriptors here, and %d connections need more (%v)", files.Max, count, err)
	}
	target = start(t, leftPorts, targetID)
	for i := range crowds {
		p := traffic.Start(t, over(leftPorts))
		p.Crowd(i*count/crowds, count/crowds)
		peers = append(peers, p)
	}
	before := target.Resident()
	began := time.Now()
	for _, p := range peers {
		p.Join(host, targetID)
	}
	for _, p := range peers {
		p.Joined()
	}
	took = time.Since(began)
	return target, peers, took, float64(target.Resident()-before) / float64(count)
}

// Many endpoints connect to one, which serves one of them still.
func TestCrowd(t *testing.T) {
	count := 1000
	if testing.Short() {
		count = 200
	}
	needTCP(t)
	target, _, took, perPeer := crowd(t, count)
	t.Logf("%d endpoints connected in %v; %.0f bytes of memory for each", count, took.Round(time.Millisecond), perPeer)
	one := start(t, leftPorts, count)
	exchange(t, target, one, target.Connect(host, uint32(count)), one.Connect(host, targetID), 1000, traffic.Mixed)
}

// The time in which 1,000 endpoints connect to one, and the memory that each
// costs it when idle. The buffers of sockets are the kernel's and not in there.
func BenchmarkCrowd(b *testing.B) {
	needTCP(b)
	const count = 1000
	var took time.Duration
	var memory float64
	for b.Loop() {
		target, peers, t, perPeer := crowd(b, count)
		took, memory = took+t, memory+perPeer
		for _, p := range append(peers, target) {
			p.Kill()
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(took.Seconds()/float64(b.N), "s/1000connects")
	b.ReportMetric(memory/float64(b.N), "B/peer")
}
