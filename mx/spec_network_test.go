package mx_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"gomx/mx"
)

// portOfID returns the TCP port of an endpoint id under the environment of the test.
func portOfID(t *testing.T, id uint32) int {
	t.Helper()
	var first int
	if _, err := fmt.Sscan(valueOf(t, "MX_PORT_BASE").Value, &first); err != nil {
		t.Fatal(err)
	}
	return first + int(id)
}

// occupy listens on the port of an endpoint id of board 0, as another program.
func occupy(t *testing.T, id uint32) net.Listener {
	t.Helper()
	boards, err := mx.Boards()
	if err != nil {
		t.Fatal(err)
	}
	at := netip.AddrPortFrom(boards[0].Addrs[0], uint16(portOfID(t, id)))
	l, err := net.Listen("tcp", at.String())
	if err != nil {
		t.Skipf("%v is in use on this machine: %v", at, err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestAllSizesOverTCP(t *testing.T) {
	w := newWorld(t, "tcp")
	a, b, toB, _ := w.pair()
	for _, n := range append(sizes, 1<<20, 3<<20+7) {
		got, want := make([]byte, n), pattern(n, byte(n))
		recv := w.irecv(b, got, 1, exact)
		send := w.isend(a, want, toB, 1)
		w.succeed(b, recv)
		w.succeed(a, send)
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes arrived changed", n)
		}
	}
	check := func(ep, of *mx.Endpoint) {
		t.Helper()
		nic, id := place(t, of)
		want := mx.PeerInfo{Name: of.String(), NICID: nic, EndpointID: id, Transport: "tcp"}
		got := ep.Peers()
		if len(got) == 1 {
			if want.Eager = got[0].Eager; want.Eager < 1024 {
				t.Errorf("%v: messages up to %d bytes go eagerly", ep, want.Eager)
			}
			want.FramesSent, want.FramesReceived = got[0].FramesSent, got[0].FramesReceived
			if want.FramesSent == 0 || want.FramesReceived == 0 {
				t.Errorf("%v: %d frames sent and %d received", ep, want.FramesSent, want.FramesReceived)
			}
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("peers of %v: %+v, want %+v", ep, got, want)
		}
	}
	check(a, b)
	check(b, a)
	if n, err := a.EagerTo(toB); err != nil || n != a.Peers()[0].Eager {
		t.Errorf("EagerTo says %d, %v", n, err)
	}
}

// Endpoints of one host meet over shared memory if both have it, and otherwise
// over TCP, and the one that dials knows why.
func TestSharedMemoryFirstThenTCP(t *testing.T) {
	w := newWorld(t, "tcp")
	skipWithout(t, "shm")
	auto, err := mx.OpenEndpoint(0, mx.AnyEndpoint, testFilter)
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, auto)
	want := "[shm tcp]"
	if len(mx.RDMA().Ports) > 0 {
		want = "[shm rdma tcp]"
	}
	if got := fmt.Sprint(auto.TransportNames()); got != want {
		t.Errorf("transports %s, want %s: %v", got, want, auto.Diagnostics())
	}
	both := w.open(mx.WithTransports("shm", "tcp"))
	only, err := w.tryOpen(uncommon(), mx.WithTransports("tcp"))
	if err != nil {
		t.Fatal(err)
	}
	w.connect(auto, both)
	w.connect(auto, only)
	peers := auto.Peers()
	if len(peers) != 2 || peers[0].Transport != "shm" || peers[1].Transport != "tcp" {
		t.Fatalf("%+v", peers)
	}
	if peers[0].Instead != "" || !strings.Contains(peers[1].Instead, "shm") {
		t.Errorf("%+v", peers)
	}
}

func TestTakenPortIsBusy(t *testing.T) {
	t.Setenv("MX_PORT_RANGE", "31740-31743")
	w := newWorld(t, "tcp")
	occupy(t, 1)
	_, err := w.tryOpen(1)
	refused(t, err, mx.ErrBusy, "open endpoint", "31741", "endpoint 1 of", "program")
	_, err = w.tryOpen(4)
	refused(t, err, mx.ErrBadEndpointID, "31740", "31743", "MX_PORT_RANGE", "4")
	for _, want := range []uint32{0, 2, 3} {
		if ep, err := w.tryOpen(mx.AnyEndpoint); err != nil || ep.ID() != want {
			t.Errorf("endpoint %v, %v, want %d", ep, err, want)
		}
	}
	_, err = w.tryOpen(mx.AnyEndpoint)
	refused(t, err, mx.ErrBusy, "0 to 3")
}

func TestWrongSecretIsRefused(t *testing.T) {
	w := newWorld(t, "tcp")
	right := mx.WithSecret([]byte("right"))
	server, friend := w.open(right), w.open(right)
	w.connect(friend, server)
	for name, p := range map[string]mx.Param{"wrong": mx.WithSecret([]byte("wrong")), "none": mx.WithSecret(nil)} {
		stranger := w.open(p)
		nic, id := place(t, server)
		_, err := stranger.Connect(nic, id, testFilter, bound)
		refused(t, err, mx.ErrConnectionFailed, stranger.String(), server.String(), "secret")
		if peers := stranger.Peers(); len(peers) != 1 || !strings.Contains(peers[0].Failure, "secret") {
			t.Errorf("%s: %+v", name, peers)
		}
	}
	w.until("both are counted", func() bool { return counter(t, server, "handshakes refused") >= 2 }, server) // one for each address
}

// A port that refuses, and one where nobody answers the handshake, are told apart,
// and the error has the address.
func TestRefusedAndSilentPorts(t *testing.T) {
	t.Setenv("MX_PORT_RANGE", "31750-31759")
	t.Setenv("MX_CONNECT_TIMEOUT", "300ms")
	w := newWorld(t, "tcp")
	a, err := w.tryOpen(mx.AnyEndpoint)
	if err != nil {
		t.Fatal(err)
	}
	nic, _ := place(t, a)
	_, err = a.Connect(nic, 7, testFilter, bound)
	refused(t, err, mx.ErrConnectionFailed, a.String(), "/7", ":31757", "refused", "no such endpoint")
	occupy(t, 8)
	began := time.Now()
	_, err = a.Connect(nic, 8, testFilter, bound)
	refused(t, err, mx.ErrConnectionFailed, a.String(), "/8", ":31758")
	if took := time.Since(began); took > bound/2 {
		t.Errorf("it took %v", took)
	}
}

func TestUnknownAddressOverTCP(t *testing.T) {
	w := newWorld(t, "tcp")
	a := w.open()
	_, err := a.Connect(0x06123456789a, 1, testFilter, bound)
	refused(t, err, mx.ErrNICNotFound, a.String(), "06:12:34:56:78:9a/1", "name or address")
	_, err = mx.HostnameToNICID("nobody.invalid")
	refused(t, err, mx.ErrHostNotFound, "nobody.invalid", "address")
	if errors.Is(err, mx.ErrNICNotFound) {
		t.Error(err)
	}
}
