package mx_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gomx/mx"
)

// diagnostic returns the line of an endpoint's diagnostics with a name, or "".
func diagnostic(ep *mx.Endpoint, name string) string {
	for _, f := range ep.Diagnostics() {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

func TestRDMASaysTheSameAsTransports(t *testing.T) {
	info := mx.RDMA()
	if info.Available == (info.Reason != "") || info.MemoryNeed == 0 || info.Ports == nil {
		t.Errorf("%+v", info)
	}
	usable := 0
	for _, p := range info.Ports {
		if p.Usable == (p.Reason != "") || p.Name == "" || p.Usable && p.GID == "" || (p.GID == "") != (p.GIDReason == "") {
			t.Errorf("%+v", p)
		}
		if p.Usable {
			usable++
		}
	}
	if info.Available != (usable > 0) {
		t.Errorf("available: %v, and %d ports can be used", info.Available, usable)
	}
	for _, tr := range mx.Transports() {
		if tr.Name == "rdma" && (tr.Available != info.Available || tr.Reason != info.Reason) {
			t.Errorf("%+v, but %q", tr, info.Reason)
		}
	}
}

func TestRDMAVariables(t *testing.T) {
	for name, c := range map[string]struct {
		usual     string
		good, bad []string
	}{
		"MX_RDMA_DEVICE":  {"auto", []string{"mlx5_0", "mlx5_0/1", "auto", "rxe0/255"}, []string{"/1", "mlx5_0/", "mlx5_0/0", "mlx5_0/x", "a,b", "mlx5_0/1/2", "mlx5_0/256"}},
		"MX_RDMA_CREDITS": {"32", []string{"4", "100", "4096"}, []string{"0", "3", "4097", "-1", "many", "1K"}},
		"MX_RDMA_SLOTS":   {"512", []string{"16", "512", "65536"}, []string{"15", "65537", "0", "some"}},
	} {
		t.Run(name, func(t *testing.T) {
			if v := valueOf(t, name); v.Value != c.usual || v.Default != c.usual || v.Source != "default" {
				t.Errorf("%+v", v)
			}
			for _, value := range c.good {
				t.Setenv(name, value)
				if v := valueOf(t, name); v.Value != value || v.Source != "environment" {
					t.Errorf("%+v", v)
				}
			}
			for _, value := range c.bad {
				t.Setenv(name, value)
				refused(t, mx.Init(), mx.ErrBadParamVal, name, value)
			}
		})
	}
	t.Setenv("MX_RDMA_SLOTS", "1000")
	if need := mx.RDMA().MemoryNeed; need != 1000*8192 {
		t.Errorf("1000 slots take %d bytes", need)
	}
}

func TestRDMAThatIsNotThereIsRefusedWithTheReason(t *testing.T) {
	info := mx.RDMA()
	if info.Available {
		t.Skip("needs a machine without a usable RDMA device")
	}
	initialize(t)
	for _, names := range [][]string{{"rdma"}, {"rdma", "tcp"}, {"shm", "rdma"}} {
		_, err := mx.OpenEndpoint(0, mx.AnyEndpoint, testFilter, mx.WithTransports(names...))
		refused(t, err, mx.ErrNoDriver, "open endpoint", "transport rdma", info.Reason, "mx_info", "leave rdma out")
	}
	ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, testFilter)
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, ep)
	if names := fmt.Sprint(ep.TransportNames()); strings.Contains(names, "rdma") {
		t.Errorf("transports %s", names)
	}
}

// A device that was named but is not there does not keep endpoints from other
// transports, and they say so.
func TestNamedRDMADeviceThatIsNotThere(t *testing.T) {
	skipWithout(t, "tcp")
	t.Setenv("MX_RDMA_DEVICE", "nonesuch_0/1")
	initialize(t)
	ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, testFilter)
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, ep)
	names := fmt.Sprint(ep.TransportNames())
	if strings.Contains(names, "rdma") || !strings.Contains(names, "tcp") {
		t.Errorf("transports %s", names)
	}
	if why := diagnostic(ep, "no RDMA because"); why == "" {
		t.Errorf("nothing says why: %v", ep.Diagnostics())
	}
	_, err = mx.OpenEndpoint(0, mx.AnyEndpoint, testFilter, mx.WithTransports("rdma"))
	refused(t, err, mx.ErrNoDriver, "rdma")
}

func TestAllSizesOverRDMA(t *testing.T) {
	w := newWorld(t, "rdma")
	a, b, toB, toA := w.pair()
	for _, n := range append(sizes, 1<<20, 3<<20+7) {
		for _, way := range []struct {
			from, to *mx.Endpoint
			addr     mx.EndpointAddr
		}{{a, b, toB}, {b, a, toA}} {
			got, want := make([]byte, n), pattern(n, byte(n))
			recv := w.irecv(way.to, got, 1, exact)
			send := w.isend(way.from, want, way.addr, 1)
			w.succeed(way.to, recv)
			w.succeed(way.from, send)
			if !bytes.Equal(got, want) {
				w.Errorf("%d bytes arrived changed", n)
			}
		}
	}
	if peers := a.Peers(); len(peers) != 1 || peers[0].Transport != "rdma" || peers[0].Instead != "" {
		w.Errorf("%+v", peers)
	}
}

// Of two endpoints one of which has no RDMA, either side may dial, and the one that
// does knows why they speak TCP.
func TestRDMAFallsBackToTCP(t *testing.T) {
	w := newWorld(t, "rdma")
	both, only := w.open(mx.WithTransports("rdma", "tcp")), w.open(mx.WithTransports("tcp"))
	toOnly := w.connect(both, only)
	peers := both.Peers()
	if len(peers) != 1 || peers[0].Transport != "tcp" || !strings.Contains(peers[0].Instead, "rdma") {
		w.Errorf("%+v", peers)
	}
	recv := w.irecv(only, make([]byte, 100_000), 1, exact)
	w.succeed(both, w.isend(both, pattern(100_000, 0), toOnly, 1))
	w.succeed(only, recv)

	other := w.open(mx.WithTransports("rdma", "tcp"))
	w.connect(only, other)
	if peers := only.Peers(); len(peers) != 2 || peers[1].Transport != "tcp" || peers[1].Instead != "" {
		w.Errorf("%+v", peers)
	}
	w.connect(both, other)
	if peers := both.Peers(); len(peers) != 2 || peers[1].Transport != "rdma" || peers[1].Instead != "" {
		w.Errorf("%+v", peers)
	}
	alone := w.open()
	nic, id := place(w, only)
	_, err := alone.Connect(nic, id, testFilter, bound)
	refused(w, err, mx.ErrConnectionFailed, alone.String(), only.String(), "rdma")
}

// On the board without a device the error says which boards have one.
func TestRDMAOnABoardWithoutADevice(t *testing.T) {
	w := newWorld(t, "rdma")
	boards, err := mx.Boards()
	if err != nil {
		t.Fatal(err)
	}
	lo := boards[len(boards)-1]
	_, err = mx.OpenEndpoint(uint32(lo.Number), mx.AnyEndpoint, testFilter, mx.WithTransports("rdma"))
	refused(w, err, mx.ErrNoDriver, lo.Interface, "has no RDMA device", "board 0 has "+boards[0].RDMA[0])
	ep, err := mx.OpenEndpoint(uint32(lo.Number), mx.AnyEndpoint, testFilter)
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, ep)
	if names := fmt.Sprint(ep.TransportNames()); strings.Contains(names, "rdma") || diagnostic(ep, "no RDMA because") != "" {
		t.Errorf("transports %s, %v", names, ep.Diagnostics())
	}
}

func TestRDMAPortsAreThoseOfBoards(t *testing.T) {
	newWorld(t, "rdma")
	boards, err := mx.Boards()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range mx.RDMA().Ports {
		if p.Board < 0 || p.Board >= len(boards) || boards[p.Board].Interface != p.Interface {
			t.Errorf("%+v", p)
			continue
		}
		if want := boards[p.Board].Addrs[0].String(); p.Layer == "Ethernet" && !strings.Contains(p.GID, want) {
			t.Errorf("GID %s for %s: %s", p.GID, want, p.GIDReason)
		}
	}
}
