//go:build linux

package rdma_test

import (
	"fmt"
	"testing"
	"time"

	"gomx/integration/internal/devices"
	"gomx/integration/internal/proc"
	"gomx/integration/internal/traffic"
	"gomx/mx"
)

func TestMain(m *testing.M) {
	proc.Main(m, map[string]proc.Role{traffic.RoleName: traffic.Role, "echo": echo, "short": short})
}

// needRDMA skips a test on machines without a device.
func needRDMA(t testing.TB) {
	t.Helper()
	for _, info := range mx.Transports() {
		if info.Name == "rdma" && !info.Available {
			t.Skip("no RDMA on this machine: ", info.Reason)
		}
	}
}

// needMachine skips a test that changes what others on this machine may use.
func needMachine(t testing.TB) {
	t.Helper()
	if !devices.InMachine() {
		t.Skip("needs the machine of integration/rdmavm: elsewhere it would disturb others")
	}
	needRDMA(t)
}

// way is where two peers are.
type way struct{ left, right spot }

// spot is an interface with a device, and its address.
type spot struct{ net, host string }

// sameDevice has both peers on the device of board 0.
func sameDevice(t testing.TB) way {
	t.Helper()
	needRDMA(t)
	initialize(t)
	boards, err := mx.Boards()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range boards {
		if len(b.RDMA) > 0 && len(b.Addrs) > 0 {
			s := spot{b.Interface, b.Addrs[0].String()}
			return way{s, s}
		}
	}
	t.Skip("no board of this machine has an RDMA device and an address")
	return way{}
}

// cable has them at its two ends.
func cable(t testing.TB) way {
	t.Helper()
	needMachine(t)
	return way{spot{"d1", "10.79.1.1"}, spot{"d2", "10.79.1.2"}}
}

// childLife is long enough for an emulated machine whose host has much else to do.
const childLife = 10 * time.Minute

// over returns the options of a peer that talks RDMA only.
func over(s spot, env ...string) proc.Options {
	return proc.Options{Life: childLife, Env: append([]string{"MX_TRANSPORT=rdma", "MX_NET=" + s.net}, env...)}
}

// start starts a peer with an endpoint of the given number.
func start(t testing.TB, s spot, id int, env ...string) *traffic.Peer {
	t.Helper()
	p := traffic.Start(t, over(s, env...))
	p.Open(id)
	return p
}

// couple is two peers that are connected.
type couple struct {
	t        testing.TB
	a, b     *traffic.Peer
	toB, toA uint32
}

// The numbers of the endpoints of a couple.
const (
	aID = 1
	bID = 2
)

func pair(t testing.TB, w way, env ...string) *couple {
	t.Helper()
	c := &couple{t: t, a: start(t, w.left, aID, env...), b: start(t, w.right, bID, env...)}
	c.connect(w)
	return c
}

func (c *couple) connect(w way) {
	c.t.Helper()
	c.toB, c.toA = c.a.Connect(w.right.host, bID), c.b.Connect(w.left.host, aID)
}

// exchange has the two send each other messages, and checks them.
func (c *couple) exchange(count int, s traffic.Sizes) {
	c.t.Helper()
	c.begin(count, s)
	c.end()
}

func (c *couple) begin(count int, s traffic.Sizes) {
	c.t.Helper()
	c.a.Duplex(c.toB, count, s)
	c.b.Duplex(c.toA, count, s)
}

func (c *couple) end() {
	c.t.Helper()
	c.a.Sunk()
	c.b.Sunk()
}

// both returns the sum of a counter.
func (c *couple) both(label string) uint64 {
	c.t.Helper()
	return c.a.Counter(label) + c.b.Counter(label)
}

// initialize calls Init for one test of this process.
func initialize(t testing.TB) {
	t.Helper()
	if err := mx.Init(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := mx.Finalize(); err != nil {
			t.Error(err)
		}
	})
}

// scale returns a count, or less of it for a short run.
func scale(count int) int {
	if testing.Short() {
		return count / 10
	}
	return count
}

// open opens an endpoint in a child.
func open(c *proc.Child, params ...mx.Param) *mx.Endpoint {
	if err := mx.Init(); err != nil {
		c.Fail(err)
	}
	ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, traffic.Filter, params...)
	if err != nil {
		c.Fail(err)
	}
	return ep
}

func nicOf(host string) uint64 {
	nic, err := mx.HostnameToNICID(host)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", host, err))
	}
	return nic
}
