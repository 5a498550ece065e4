//go:build linux

package tcp_test

import (
	"net"
	"net/netip"
	"os"
	"path"
	"sync/atomic"
	"testing"

	"gomx/internal/testlength"
	"gomx/transport"
	"gomx/transport/bell"
	"gomx/transport/tcp"
	"gomx/transport/transporttest"
)

// nextBase gives each transport a range of ports of its own.
var nextBase atomic.Int32

const portsOfTest = 10

// loopback makes a transport whose endpoints are all at one address.
func loopback(at netip.Addr, opt tcp.Options) *tcp.Transport {
	opt.PortBase = 21000 + int(nextBase.Add(portsOfTest))%8000
	opt.Ports = portsOfTest
	opt.Listen = func(transport.Address) []netip.Addr { return []netip.Addr{at} }
	opt.Addrs = func(uint64) []netip.Addr { return []netip.Addr{at} }
	return tcp.New(opt)
}

// home4 is one address of 127.0.0.0/8 for each process, so that tests of several
// at once don't take each other's ports. IPv6 has a single one.
var (
	home4 = netip.AddrFrom4([4]byte{127, 64 | byte(os.Getpid()>>16), byte(os.Getpid() >> 8), byte(os.Getpid())})
	home6 = netip.IPv6Loopback()
)

func newBell(t testing.TB) transport.Doorbell {
	b, err := bell.New()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestConformance(t *testing.T) {
	testlength.Long(t)
	for _, c := range []struct {
		name string
		at   netip.Addr
		opt  tcp.Options
		skip map[string]string // subtests that this one can't pass, and why
	}{
		{"IPv4", home4, tcp.Options{}, nil},
		{"IPv6", home6, tcp.Options{}, nil},
		{"secret", home4, tcp.Options{Secret: []byte("open sesame")}, nil},
		{"TLS", home4, tcp.Options{TLS: newAuthority(t).config()}, map[string]string{
			"NoAllocations": "crypto/tls allocates a reader for what it reads",
		}},
		{"tight", home4, tcp.Options{SendBuffer: 48 << 10, ReceiveBuffer: 48 << 10}, nil},
	} {
		transporttest.Run(t, transporttest.Factory{
			Name: c.name,
			New: func(t testing.TB) transport.Transport {
				if why := c.skip[path.Base(t.Name())]; why != "" {
					t.Skip(why)
				}
				if c.at == home6 && !hasIPv6() {
					t.Skip("this machine has no IPv6")
				}
				return loopback(c.at, c.opt)
			},
			NewBell: newBell,
		})
	}
}

func hasIPv6() bool {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}
