package exs_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gomx/exs"
	"gomx/internal/freeport"
	"gomx/mx"
)

// option returns an option of the socket behind a connection.
func (w *world) option(c net.Conn, cmd exs.Command) int {
	w.Helper()
	n, err := c.(interface{ Socket() *exs.Socket }).Socket().Fcntl(cmd, 0)
	w.ok(err)
	return n
}

// What a Dialer and a ListenConfig say holds for their connections.
func TestDialerOptions(t *testing.T) {
	w := newWorld(t, "mem")
	credits := func(n int) func(string, string, *exs.Socket) error {
		return func(network, address string, s *exs.Socket) error {
			if _, err := netip.ParseAddrPort(address); err != nil || network != "exs" && network != "exspacket" {
				t.Errorf("Control of %s at %s", network, address)
			}
			_, err := s.Fcntl(exs.SetFlowControlCredits, n)
			return err
		}
	}
	for _, network := range []string{"exs", "exspacket"} {
		c := &exs.ListenConfig{Library: w.there, StreamBuffer: 1 << 16, BusyPoll: true, Backlog: 1, Control: credits(9)}
		ln, err := c.Listen(t.Context(), network, "127.0.0.1:0")
		w.ok(err)
		d := &exs.Dialer{Library: w.here, StreamBuffer: -1, Timeout: bound, Control: credits(7)}
		a, err := d.Dial(network, ln.Addr().String())
		w.ok(err)
		b, err := ln.Accept()
		w.ok(err)
		for _, want := range []struct {
			c     net.Conn
			cmd   exs.Command
			value int
		}{
			{a, exs.GetStreamBufSize, 0}, {a, exs.GetFlowControlCredits, 7}, {a, exs.GetFD, exs.FDNoDelay},
			{b, exs.GetStreamBufSize, 1 << 16}, {b, exs.GetFlowControlCredits, 7}, {b, exs.GetFD, exs.FDBusyPoll},
		} {
			if n := w.option(want.c, want.cmd); n != want.value {
				t.Errorf("%s: option %d of %v is %d, want %d", network, want.cmd, want.c.LocalAddr(), n, want.value)
			}
		}
		w.ok(a.Close())
		w.ok(b.Close())
		w.ok(ln.Close())
	}
}

// A stream buffer that is too large is refused with both numbers.
func TestDialerBufferTooLarge(t *testing.T) {
	most := exs.MaxStreamBuf
	if most == math.MaxInt {
		t.Skip("no int is too large here")
	}
	_, err := (&exs.Dialer{Library: newWorld(t, "mem").here, StreamBuffer: most + 1}).Dial("exs", "127.0.0.1:1")
	refused(t, err, exs.EINVAL)
	says(t, err, "StreamBuffer", strconv.Itoa(most+1), strconv.Itoa(most))
}

// The backlog of a ListenConfig is how many connections are made ahead of Accept.
func TestListenConfigBacklog(t *testing.T) {
	w := newWorld(t, "mem")
	ln, err := (&exs.ListenConfig{Library: w.there, Backlog: 2}).Listen(t.Context(), "exs", "127.0.0.1:0")
	w.ok(err)
	defer ln.Close()
	d := &exs.Dialer{Library: w.here, Timeout: bound}
	for range 2 {
		c, err := d.Dial("exs", ln.Addr().String())
		w.ok(err)
		defer c.Close()
	}
	says(t, w.timesOut(ln.Addr().String(), "its queue"), "backlog")
}

// A negative backlog is no backlog.
func TestListenConfigBadBacklog(t *testing.T) {
	_, err := (&exs.ListenConfig{Library: newWorld(t, "mem").there, Backlog: -5}).Listen(t.Context(), "exs", "127.0.0.1:0")
	refused(t, err, exs.EINVAL)
	says(t, err, "Backlog is -5")
}

// An error of Control is that of the call, and is found in it.
func TestDialerControlRefuses(t *testing.T) {
	w := newWorld(t, "mem")
	mine := errors.New("not with me")
	refuse := func(string, string, *exs.Socket) error { return mine }
	_, err := (&exs.ListenConfig{Library: w.there, Control: refuse}).Listen(t.Context(), "exs", "127.0.0.1:0")
	if !errors.Is(err, mine) {
		t.Error(err)
	}
	_, err = (&exs.Dialer{Library: w.here, Control: refuse}).Dial("exs", w.listens().Addr().String())
	if !errors.Is(err, mine) {
		t.Error(err)
	}
}

// A library that is closed when a dial or a Listen has its socket, and has not begun with it, is net.ErrClosed.
func TestDialerLibraryClosed(t *testing.T) {
	w := newWorld(t, "mem")
	to := w.listens().Addr().String()
	closes := func(l *exs.Library) func(string, string, *exs.Socket) error {
		return func(string, string, *exs.Socket) error { return l.Close() }
	}
	open := func() *exs.Library {
		l, err := exs.Open(exs.Version1)
		w.ok(err)
		return l
	}
	l := open()
	_, err := (&exs.Dialer{Library: l, Control: closes(l)}).Dial("exs", to)
	if !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	says(t, err, "the library was closed")
	l = open()
	_, err = (&exs.ListenConfig{Library: l, Control: closes(l)}).Listen(t.Context(), "exs", "127.0.0.1:0")
	if !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	says(t, err, "the library was closed")
}

// The time of a dial ends with Timeout, Deadline or the context, whichever is first.
func TestDialerTimes(t *testing.T) {
	w := newWorld(t, "mem")
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	w.ok(err)
	defer mute.Close()
	const short, long = 50 * time.Millisecond, time.Hour
	for name, c := range map[string]struct {
		timeout, deadline, limit time.Duration
	}{"timeout": {short, long, long}, "deadline": {long, short, long}, "context": {long, long, short}} {
		ctx, stop := context.WithTimeout(t.Context(), c.limit)
		w.within(name, func() {
			d := &exs.Dialer{Library: w.here, Timeout: c.timeout, Deadline: time.Now().Add(c.deadline)}
			_, err := d.DialContext(ctx, "exs", mute.Addr().String())
			if e, ok := errors.AsType[net.Error](err); !errors.Is(err, context.DeadlineExceeded) || !ok || !e.Timeout() {
				t.Errorf("%s: %v", name, err)
			}
			says(t, err, "timed out")
		})
		stop()
	}
	_, err = (&exs.Dialer{Library: w.here, Deadline: time.Now().Add(-short)}).Dial("exs", mute.Addr().String())
	says(t, err, "before the connect began")
}

// A Dialer dials from its LocalAddr, and the other side sees it.
func TestDialerLocalAddr(t *testing.T) {
	w := newWorld(t, "mem")
	ln := w.listens()
	free := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1).To4(), Port: freeport.Take(t)}
	for _, from := range []net.Addr{free, exs.Addr{AddrPort: free.AddrPort()}, exs.SeqPacketAddr{AddrPort: free.AddrPort()}} {
		c, err := (&exs.Dialer{Library: w.here, LocalAddr: from}).Dial("exs", ln.Addr().String())
		w.ok(err)
		d, err := ln.Accept()
		w.ok(err)
		if d.RemoteAddr().String() != free.String() || c.LocalAddr().String() != free.String() {
			t.Errorf("from %v, seen as %v", c.LocalAddr(), d.RemoteAddr())
		}
		w.ok(c.Close())
		w.ok(d.Close())
	}
	for _, from := range []net.Addr{&net.TCPAddr{IP: net.IPv6loopback}, &net.UnixAddr{Name: "here"}} {
		_, err := (&exs.Dialer{Library: w.here, LocalAddr: from}).Dial("exs", ln.Addr().String())
		says(t, err, "LocalAddr")
	}
	_, err := (&exs.Dialer{Library: w.here, LocalAddr: ln.Addr()}).Dial("exs", ln.Addr().String())
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("from an address that somebody has: %v", err)
	}
}

// Port 0 without a host is a free port of both families, or of the one that is named.
func TestListenBothFamilies(t *testing.T) {
	w := newWorld(t, "mem")
	v6 := false
	if probe, err := net.Listen("tcp6", "[::1]:0"); err == nil {
		v6 = true
		w.ok(probe.Close())
	} else {
		t.Logf("no IPv6: %v", err)
	}
	for _, c := range []struct {
		network, address string
		ip4, ip6         bool
	}{
		{"exs", ":0", true, true}, {"tcp", "", true, true}, {"exspacket", "[::]:0", true, true}, {"exs", "0.0.0.0:0", true, false},
		{"exs4", ":0", true, false}, {"tcp6", ":0", false, true}, {"exspacket6", "[::]:0", false, true}, {"exspacket4", "", true, false},
	} {
		if !c.ip4 && !v6 {
			continue
		}
		ln, err := w.there.Listen(c.network, c.address)
		w.ok(err)
		_, port, err := net.SplitHostPort(ln.Addr().String())
		w.ok(err)
		if port == "0" {
			t.Errorf("%v", ln.Addr())
		}
		family := "exs"
		if _, packets := ln.Addr().(exs.SeqPacketAddr); packets {
			family = "exspacket"
		}
		for host, open := range map[string]bool{"127.0.0.1": c.ip4, "::1": c.ip6} {
			if host == "::1" && !v6 {
				continue
			}
			d, err := w.here.Dial(family, net.JoinHostPort(host, port))
			if open != (err == nil) {
				t.Errorf("Listen(%q, %q), then a dial of %s: %v", c.network, c.address, host, err)
			}
			if err != nil {
				refused(t, err, exs.ECONNREFUSED)
				continue
			}
			a, err := ln.Accept()
			w.ok(err)
			if got, _, _ := net.SplitHostPort(a.RemoteAddr().String()); got != host {
				t.Errorf("a client of %s is seen as %v", host, a.RemoteAddr())
			}
			w.ok(d.Close())
			w.ok(a.Close())
		}
		d, err := w.here.Dial(c.network, ln.Addr().String()) // which means this host
		w.ok(err)
		w.ok(d.Close())
		w.ok(ln.Close())
	}
}

// overTCP runs the test that calls it in a process of its own whose libraries know tcp alone: between processes of one host neither a secret nor
// TLS is asked for otherwise. False: it has, and this is not that process.
func overTCP(t *testing.T) bool {
	t.Helper()
	const name, tcp = "MX_TRANSPORT", "tcp,self"
	if os.Getenv(name) == tcp {
		return true
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), name+"="+tcp)
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// Dialers and ListenConfigs of one secret meet, those of another do not, and a Library has a secret of its own.
func TestDialerSecret(t *testing.T) {
	if !overTCP(t) {
		return
	}
	w := &world{TB: t}
	secret := []byte("long and random")
	ln, err := (&exs.ListenConfig{Secret: secret}).Listen(t.Context(), "exs", "127.0.0.1:0")
	w.ok(err)
	c, err := (&exs.Dialer{Secret: secret}).Dial("exs", ln.Addr().String()) // by the same endpoint
	w.ok(err)
	w.ok(c.Close())
	c, err = w.open(mx.WithSecret(secret)).Dial("exs", ln.Addr().String())
	w.ok(err)
	w.ok(c.Close())
	for _, d := range []*exs.Dialer{{Secret: []byte("another one")}, {}} {
		_, err = d.Dial("exs", ln.Addr().String())
		refused(t, err, exs.EHOSTUNREACH)
		says(t, err, "MX_SECRET")
	}
	w.ok(exs.Finalize())
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept behind Finalize: %v", err)
	}
	refused(t, exs.Finalize(), exs.EINVAL)
}

// With TLS at both sides a connection is made; a configuration that TLS can't use is refused.
func TestDialerTLS(t *testing.T) {
	if !overTCP(t) {
		return
	}
	w := &world{TB: t}
	config := w.vouchedFor()
	ln, err := w.open(mx.WithTLS(config)).Listen("exspacket", "127.0.0.1:0")
	w.ok(err)
	c, err := (&exs.Dialer{TLS: config}).Dial("exspacket", ln.Addr().String())
	w.ok(err)
	d, err := ln.Accept()
	w.ok(err)
	_, err = c.Write([]byte("in secret"))
	w.ok(err)
	mem := make([]byte, 20)
	n, err := d.Read(mem)
	w.ok(err)
	w.same(mem[:n], []byte("in secret"))
	w.ok(c.Close())
	w.ok(d.Close())
	_, err = (&exs.Dialer{TLS: &tls.Config{}}).Dial("exs", ln.Addr().String())
	says(t, err, "TLS needs a certificate")
	w.ok(exs.Finalize())
}

// A Library has a secret of its own, and one that nobody has opened is none.
func TestDialerLibrary(t *testing.T) {
	w := newWorld(t, "mem")
	for _, d := range []*exs.Dialer{{Library: w.here, Secret: []byte("a")}, {Library: w.here, TLS: &tls.Config{}}} {
		_, err := d.Dial("exs", "127.0.0.1:1")
		refused(t, err, exs.EINVAL)
		says(t, err, "mx.WithSecret")
		_, err = (&exs.ListenConfig{Library: d.Library, Secret: d.Secret, TLS: d.TLS}).Listen(t.Context(), "exs", "127.0.0.1:0")
		refused(t, err, exs.EINVAL)
	}
	_, err := (&exs.Dialer{Library: &exs.Library{}}).Dial("exs", "127.0.0.1:1")
	says(t, err, "Open makes one")
}

// The time of a dial is shared among the addresses, so that one that does not answer leaves time for those behind it.
func TestDialerSharesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			time  time.Duration // 0: no deadline
			count int
			want  time.Duration
		}{{time.Hour, 4, 15 * time.Minute}, {time.Hour, 1, time.Hour}, {3 * time.Second, 3, 2 * time.Second}, {time.Second, 2, time.Second}, {0, 2, 0}} {
			ctx, stop := t.Context(), func() {}
			if c.time != 0 {
				ctx, stop = context.WithTimeout(ctx, c.time)
			}
			share, end := exs.ShareOf(ctx, c.count)
			if at, ok := share.Deadline(); ok != (c.want != 0) || ok && time.Until(at) != c.want {
				t.Errorf("%v among %d: %v, want %v", c.time, c.count, time.Until(at), c.want)
			}
			end()
			stop()
		}
	})
}

// Behind an address where nobody listens a Dialer tries the others of the name.
func TestDialerTriesAll(t *testing.T) {
	w := newWorld(t, "mem")
	ln, err := w.there.Listen("exs6", "[::1]:0")
	if err != nil {
		t.Skipf("no IPv6: %v", err)
	}
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	c, err := (&exs.Dialer{Library: w.here}).Dial("exs", ":"+port) // this host, by IPv4 first
	w.ok(err)
	w.ok(c.Close())
	w.ok(ln.Close())
}

// An address that means all of the host's leads to a listener on any of its loopback addresses.
func TestDialOfAllAddresses(t *testing.T) {
	w := newWorld(t, "shm")
	for _, at := range []string{"127.0.0.1:0", "0.0.0.0:0", "localhost:0", ":0"} {
		ln, err := w.there.Listen("exs", at)
		w.ok(err)
		_, port, err := net.SplitHostPort(ln.Addr().String())
		w.ok(err)
		for _, to := range []string{"0.0.0.0", "", "::"} {
			a, b := w.dials(ln, net.JoinHostPort(to, port))
			w.echoed(a, b)
		}
		w.ok(ln.Close())
	}
}

// LocalAddr may be a port alone, and is refused if there is no such address.
func TestDialFromAPort(t *testing.T) {
	w := newWorld(t, "shm")
	ln, err := w.there.Listen("exs", "127.0.0.1:0")
	w.ok(err)
	defer ln.Close()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	w.ok(err)
	port := free.Addr().(*net.TCPAddr).Port
	w.ok(free.Close())
	for _, from := range []net.Addr{&net.TCPAddr{Port: port}, exs.Addr{AddrPort: netip.AddrPortFrom(netip.Addr{}, uint16(port))}} {
		d := &exs.Dialer{Library: w.here, Timeout: bound, LocalAddr: from}
		a, err := d.Dial("exs", ln.Addr().String())
		w.ok(err)
		b, err := ln.Accept()
		w.ok(err)
		if want := fmt.Sprint("127.0.0.1:", port); b.RemoteAddr().String() != want || a.LocalAddr().String() != want {
			t.Errorf("%v, %v, want %s", b.RemoteAddr(), a.LocalAddr(), want)
		}
		w.ok(a.Close())
		w.ok(b.Close())
	}
	for _, from := range []*net.TCPAddr{{Port: 70001}, {IP: net.IPv4(127, 0, 0, 1), Port: -1}, {IP: net.IP{1, 2, 3}, Port: 5}} {
		d := &exs.Dialer{Library: w.here, Timeout: bound, LocalAddr: from}
		if _, err := d.Dial("exs", ln.Addr().String()); err == nil || !strings.Contains(err.Error(), "LocalAddr") {
			t.Errorf("from %v: %v", from, err)
		}
	}
}

// A dial whose time is over before it begins, since Control took it, does not succeed, also where it would be direct.
func TestControlTakesTheTime(t *testing.T) {
	w := newWorld(t, "shm")
	ln, err := w.there.Listen("exs", "127.0.0.1:0")
	w.ok(err)
	defer ln.Close()
	a, b := w.dials(ln, ln.Addr().String()) // from now on directly
	w.echoed(a, b)
	for range 5 {
		d := &exs.Dialer{Library: w.here, Timeout: 20 * time.Millisecond, Control: func(string, string, *exs.Socket) error {
			time.Sleep(40 * time.Millisecond)
			return nil
		}}
		if _, err := d.Dial("exs", ln.Addr().String()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a dial without time: %v", err)
		}
	}
}

// A LocalAddr that is a nil *net.TCPAddr is none, as with package net.
func TestDialerNilLocalAddr(t *testing.T) {
	w := newWorld(t, "mem")
	ln := w.listens()
	c, err := (&exs.Dialer{Library: w.here, Timeout: bound, LocalAddr: (*net.TCPAddr)(nil)}).Dial("exs", ln.Addr().String())
	w.ok(err)
	_ = c.Close()
}
