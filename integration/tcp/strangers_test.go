//go:build linux

package tcp_test

import (
	"crypto/rand"
	"io"
	"net"
	"strconv"
	"testing"
	"time"

	"gomx/integration/internal/traffic"
	"gomx/internal/testlength"
	"gomx/transport/wire"
)

// stranger connects to a port. A port that is crowded may refuse.
func stranger(to string) (net.Conn, error) { return net.DialTimeout("tcp", to, 2*time.Second) }

// nuisances are what strangers do to an endpoint's port.
var nuisances = map[string]func(t *testing.T, to string){
	"noise": func(t *testing.T, to string) {
		for i := range 200 {
			c, err := stranger(to)
			if err != nil {
				t.Fatal(err)
			}
			noise := make([]byte, i*i%5000+1)
			_, _ = rand.Read(noise)
			_, _ = c.Write(noise)
			_ = c.Close()
		}
	},
	"a handshake and noise": func(t *testing.T, to string) {
		for i := range 100 {
			c, err := stranger(to)
			if err != nil {
				t.Fatal(err)
			}
			noise := make([]byte, 1+i*10)
			_, _ = rand.Read(noise)
			_, _ = c.Write(append([]byte("gomxtcp\x03"), append([]byte{wire.Version, 7: 0}, noise...)...))
			_ = c.(*net.TCPConn).CloseWrite()
			_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
			if _, err := io.Copy(io.Discard, c); err != nil && i == 0 {
				t.Log("after a handshake and noise:", err)
			}
			_ = c.Close()
		}
	},
	"port scan": func(t *testing.T, to string) {
		for range 1000 {
			c, err := stranger(to)
			if err != nil {
				t.Fatal(err)
			}
			_ = c.(*net.TCPConn).SetLinger(0)
			_ = c.Close()
		}
	},
	"silence": func(t *testing.T, to string) {
		for range 500 {
			c, err := stranger(to)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() }) // half-open until the end
		}
	},
}

// Strangers at the port of an endpoint do no harm: its traffic goes on, new peers
// get in, its memory stays bounded, and it counts them.
func TestStrangers(t *testing.T) {
	testlength.Long(t)
	const newcomers, grace = 3, 64 << 20
	count := scale(2000)
	for name, nuisance := range nuisances {
		t.Run(name, func(t *testing.T) {
			a, b, toB, toA := pair(t)
			exchange(t, a, b, toB, toA, count, traffic.Mixed)
			before, refused := b.Resident(), b.Counter(traffic.Refused)
			a.Duplex(toB, count, traffic.Mixed)
			b.Duplex(toA, count, traffic.Mixed)
			nuisance(t, net.JoinHostPort(host, strconv.Itoa(leftPorts+int(b.ID))))
			a.Sunk()
			b.Sunk()
			for i := range newcomers {
				p := start(t, leftPorts, third+i)
				exchange(t, p, b, p.Connect(host, b.ID), b.Connect(host, p.ID), 100, traffic.Mixed)
			}
			grown := b.Resident() - before
			t.Logf("%d refused, memory grew by %.1f MiB", b.Counter(traffic.Refused)-refused, float64(grown)/(1<<20))
			if grown > grace {
				t.Errorf("memory grew by %d bytes", grown)
			}
			if name != "port scan" {
				b.TurnsAway(refused)
			}
		})
	}
}
