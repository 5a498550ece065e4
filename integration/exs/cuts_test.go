//go:build linux

package exs_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"gomx/integration/internal/proc"
	"gomx/integration/internal/proxy"
)

// ports is how many ports each side has, below those that the system hands out. They
// depend on the process, so that runs at the same time seldom meet.
const ports = 8

var (
	clientPorts = 24000 + os.Getpid()%250*2*ports
	serverPorts = clientPorts + ports
)

// The endpoint ids of the two sides. The server takes the second one since a proxy has
// the port of the first.
const (
	clientID = 0
	serverID = 1
)

// A connection lives on while the TCP connections below it are cut, at random and in
// the midst of frames: all bytes arrive once and in order, both ways.
func TestCutsBelow(t *testing.T) {
	bytes := 20 << 20
	if testing.Short() {
		bytes = 4 << 20
	}
	for _, kind := range []string{packets, streams} {
		t.Run(kind, func(t *testing.T) {
			seed := rand.Uint64()
			t.Log("seed", seed)
			need(t, "tcp")
			cut := proxy.About(300_000, seed)
			var proxies []*proxy.Proxy
			for _, o := range []proxy.Options{
				{Listen: clientPorts + serverID, To: serverPorts + serverID, Cut: cut},
				{Listen: serverPorts + clientID, To: clientPorts + clientID, Cut: cut},
			} {
				p, err := proxy.Start(o)
				if err != nil {
					t.Skip("the ports of this test are taken: ", err)
				}
				t.Cleanup(p.Close)
				proxies = append(proxies, p)
			}
			server := apart(t, serverPorts, "server", kind, bytes)
			client := apart(t, clientPorts, "client", kind, bytes, server.Hear("at "))
			if s, c := server.HearNumber("endpoint "), client.HearNumber("endpoint "); s != serverID || c != clientID {
				t.Skipf("endpoints %d and %d, not %d and %d: somebody has the ports of this test", s, c, serverID, clientID)
			}
			client.Hear("done")
			server.Hear("done")
			cuts := proxies[0].Cuts() + proxies[1].Cuts()
			t.Logf("%d bytes each way, %d cuts", bytes, cuts)
			if cuts < 3 {
				t.Error("that was hardly a test")
			}
		})
	}
}

// apart starts a child that takes the ports of the other side for its own.
func apart(t *testing.T, first int, role string, args ...any) *proc.Process {
	t.Helper()
	return proc.StartWith(t, proc.Options{Env: []string{
		mediumKey + "=tcp", "MX_DISABLE_SHMEM=1", "MX_NET=lo", fmt.Sprintf("MX_PORT_RANGE=%d-%d", first, first+ports-1),
	}}, role, args...)
}
