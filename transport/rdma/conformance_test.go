//go:build linux && cgo

package rdma_test

import (
	"net/netip"
	"os"
	"sync/atomic"
	"testing"

	"gomx/transport"
	"gomx/transport/bell"
	"gomx/transport/rdma"
	"gomx/transport/tcp"
	"gomx/transport/transporttest"
)

// nextBase gives each transport a range of TCP ports of its own.
var nextBase atomic.Int32

const portsOfTest = 10

// home is one address of 127.0.0.0/8 for each process.
var home = netip.AddrFrom4([4]byte{127, 64 | byte(os.Getpid()>>16), byte(os.Getpid() >> 8), byte(os.Getpid())})

// onDevice makes a transport whose endpoints are all on the first port that works.
func onDevice(t testing.TB, opt rdma.Options, handshake tcp.Options) *rdma.Transport {
	t.Helper()
	if err := rdma.Available(); err != nil {
		t.Skip("needs an RDMA device, as the machine of integration/rdmavm has: ", err)
	}
	nextBase.Add(portsOfTest)
	onPortsOf(&handshake)
	handshake.Serves = []tcp.Purpose{tcp.RDMA}
	opt.Handshake = tcp.New(handshake)
	if opt.Device == "" {
		opt.Device = "rxe0"
	}
	return rdma.New(opt)
}

// onPortsOf gives a TCP transport the ports of the transport that was made last.
func onPortsOf(handshake *tcp.Options) {
	handshake.PortBase = 22000 + int(nextBase.Load())%8000
	handshake.Ports = portsOfTest
	handshake.Listen = func(transport.Address) []netip.Addr { return []netip.Addr{home} }
	handshake.Addrs = func(uint64) []netip.Addr { return []netip.Addr{home} }
}

func newBell(t testing.TB) transport.Doorbell {
	b, err := bell.New()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name     string
		opt      rdma.Options
		listener tcp.Options
	}{
		{"plain", rdma.Options{}, tcp.Options{}},
		{"few credits", rdma.Options{Credits: 12, Slots: rdma.LeastSlots}, tcp.Options{}},
		{"secret", rdma.Options{}, tcp.Options{Secret: []byte("open sesame")}},
	} {
		transporttest.Run(t, transporttest.Factory{
			Name:    c.name,
			New:     func(t testing.TB) transport.Transport { return onDevice(t, c.opt, c.listener) },
			NewBell: newBell,
		})
	}
}
