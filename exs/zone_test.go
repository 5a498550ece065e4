package exs_test

import (
	"errors"
	"net"
	"strings"
	"testing"

	"gomx/exs"
)

// linkLocal returns an IPv6 address of this host that is one of a link, with its zone.
func linkLocal(t *testing.T) string {
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		addrs, _ := i.Addrs()
		for _, a := range addrs {
			ip, ok := a.(*net.IPNet)
			if !ok || !ip.IP.IsLinkLocalUnicast() || ip.IP.To4() != nil {
				continue
			}
			host := (&net.IPAddr{IP: ip.IP, Zone: i.Name}).String()
			if ln, err := net.Listen("tcp", net.JoinHostPort(host, "0")); err == nil { // an interface that is down has it, too
				_ = ln.Close()
				return host
			}
		}
	}
	t.Skip("no interface of this host has a link-local address")
	return ""
}

// A link-local address is one of its zone.
func TestZone(t *testing.T) {
	host := linkLocal(t)
	w := newWorld(t, "shm")
	for _, network := range []string{"exs", "exspacket6"} {
		ln, err := w.there.Listen(network, net.JoinHostPort(host, "0"))
		w.ok(err)
		if !strings.HasPrefix(ln.Addr().String(), "["+host+"]:") {
			t.Errorf("%s listens at %v", network, ln.Addr())
		}
		a, err := w.here.Dial(network, ln.Addr().String())
		w.ok(err)
		b, err := ln.Accept()
		w.ok(err)
		if to := a.RemoteAddr().String(); to != ln.Addr().String() {
			t.Errorf("%s is connected with %s, not %v", network, to, ln.Addr())
		}
		_, err = a.Write([]byte("here"))
		w.ok(err)
		got := make([]byte, 9)
		n, err := b.Read(got)
		w.ok(err)
		w.same(got[:n], []byte("here"))
		w.ok(a.Close())
		w.ok(b.Close())
		w.ok(ln.Close())
	}
}

// An error names the zone that was asked for.
func TestZoneOfNoInterface(t *testing.T) {
	w := newWorld(t, "mem")
	for _, address := range []string{"[fe80::1%nowhere]:5000", "[fe80::1]:5000"} {
		_, dialled := w.here.Dial("exs", address)
		_, listens := w.here.Listen("exs", address)
		for _, err := range []error{dialled, listens} {
			if e, ok := errors.AsType[*net.OpError](err); !ok || e.Addr == nil || e.Addr.String() != address {
				t.Errorf("%v does not name %s", err, address)
			}
			if !errors.Is(err, exs.EINVAL) || !strings.HasSuffix(err.Error(), "needs the zone of an interface of this host, as in [fe80::1%eth0]:5000") {
				t.Errorf("it lacks a remedy: %v", err)
			}
		}
	}
}

// "[::]" is all addresses of the family that the network names, to listen at and to dial.
func TestAllAddressesOfAFamily(t *testing.T) {
	w := newWorld(t, "mem")
	for network, host := range map[string]string{"exs4": "0.0.0.0", "exs": "[::]", "exspacket4": "0.0.0.0"} {
		ln, err := w.there.Listen(network, "[::]:0")
		w.ok(err)
		_, port, err := net.SplitHostPort(ln.Addr().String())
		w.ok(err)
		if at := ln.Addr().String(); at != host+":"+port {
			t.Errorf("%s listens at %s", network, at)
		}
		c, err := w.here.Dial(network, "[::]:"+port)
		w.ok(err)
		w.ok(c.Close())
		w.ok(ln.Close())
	}
}
