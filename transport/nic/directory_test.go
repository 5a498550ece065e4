package nic_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"gomx/transport/nic"
)

var errNoSuchHost = errors.New("no such host")

// zone answers look-ups from a table and counts them.
type zone struct {
	mu    sync.Mutex
	hosts map[string][]string
	asked []string
}

func (z *zone) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	z.asked = append(z.asked, host)
	texts, ok := z.hosts[host]
	if !ok {
		return nil, errNoSuchHost
	}
	var addrs []netip.Addr
	for _, text := range texts {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return addrs, nil
}

func (z *zone) forget(host string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	delete(z.hosts, host)
}

func testDirectory() (*nic.Directory, *zone) {
	z := &zone{hosts: map[string][]string{
		"n8":            {"fd00::8", "10.1.0.8", "fe80::8%eth0", "10.0.0.8", "127.0.1.1", "::ffff:10.0.0.8"},
		"n9":            {"fd00::9"},
		"n7.cluster":    {"127.0.1.1"},
		"n7.example":    {"10.1.0.7"},
		"n7.elsewhere":  {"10.9.0.7"},
		"n7-second":     {"10.1.0.7"},
		"linklocal":     {"169.254.1.1", "fe80::1%eth0"},
		"nothing":       {},
		"127.1":         {"127.0.0.1"},
		"ip6-localhost": {"::1"},
	}}
	boards := nic.Arrange("N7",
		nic.Candidate{Interface: "eth0", Index: 2, Up: true, Addrs: []string{"10.0.0.7", "fd00::7"}},
		nic.Candidate{Interface: "eth1", Index: 3, Up: true, Addrs: []string{"10.1.0.7"}},
	)
	return nic.NewDirectoryFor(boards, "N7", z.lookup), z
}

func idOf(text string) nic.ID { return nic.IDOf(netip.MustParseAddr(text)) }

func TestBoardNumbers(t *testing.T) {
	d, _ := testDirectory()
	for _, n := range []int{-1, 3, 255, 256, 257, math.MaxInt32} {
		if b, err := d.Board(n); !errors.Is(err, nic.ErrBoardUnknown) {
			t.Errorf("board %d: %+v, %v", n, b, err)
		}
	}
	for i, want := range d.Boards() {
		b, err := d.Board(i)
		if err != nil || b.ID != want.ID {
			t.Errorf("board %d: %s, %v", i, b.ID, err)
		}
		if n, err := d.BoardNumber(want.ID); err != nil || n != i {
			t.Errorf("number of %s: %d, %v", want.ID, n, err)
		}
	}
	for text, want := range map[string]int{"fd00::7": 0, "10.1.0.7": 1, "127.0.0.1": 2, "127.9.9.9": 2} {
		if n, err := d.BoardNumber(idOf(text)); err != nil || n != want || !d.IsLocal(idOf(text)) {
			t.Errorf("number of the board with %s: %d, %v", text, n, err)
		}
	}
	if n, err := d.BoardNumber(idOf("10.0.0.8")); !errors.Is(err, nic.ErrBoardUnknown) || d.IsLocal(idOf("10.0.0.8")) {
		t.Errorf("a remote id is board %d, %v", n, err)
	}
}

func TestBoardsAreCopies(t *testing.T) {
	d, _ := testDirectory()
	d.Boards()[0].Addrs[0] = netip.MustParseAddr("1.2.3.4")
	b, _ := d.Board(0)
	b.Addrs[0] = netip.MustParseAddr("1.2.3.4")
	d.Addrs(b.ID)[0] = netip.MustParseAddr("1.2.3.4")
	if b, _ := d.Board(0); b.Addrs[0].String() != "10.0.0.7" {
		t.Error("a caller changed the directory's board")
	}
}

func TestMachineWithoutANetwork(t *testing.T) {
	d := nic.NewDirectoryFor(nil, "laptop", nil)
	b, err := d.Board(0)
	if err != nil || b.Kind != nic.Host || len(d.Boards()) != 1 {
		t.Fatalf("board 0 is %+v, %v", b, err)
	}
	for _, name := range []string{"laptop", "laptop:0", "localhost", "localhost:0", "127.0.0.1", "::1"} {
		if id, err := d.Resolve(t.Context(), name); err != nil || id != b.ID {
			t.Errorf("%q resolves to %s, %v", name, id, err)
		}
	}
	if _, err := d.Resolve(t.Context(), "other"); !errors.Is(err, nic.ErrHostNotFound) {
		t.Errorf("without a look-up: %v", err)
	}
}

func TestNames(t *testing.T) {
	d, _ := testDirectory()
	mustResolve(t, d, "n8:2")
	mustResolve(t, d, "10.0.0.99")
	mustResolve(t, d, "fd00::99")
	for text, want := range map[string]string{
		"10.0.0.7": "N7:0", "fd00::7": "N7:0", "10.1.0.7": "N7:1", "127.0.0.1": "localhost:2",
		"fd00::8": "n8:2", "10.0.0.99": "10.0.0.99:0", "fd00::99": "[fd00::99]:0",
	} {
		name, err := d.Name(idOf(text))
		if err != nil || name != want {
			t.Errorf("name of %s: %q, %v; want %q", text, name, err, want)
		}
		// What Name says, Resolve must take; an alias leads to its board.
		back := mustResolve(t, d, name)
		if again, err := d.Name(back); err != nil || again != want {
			t.Errorf("%q leads to %s, named %q", name, back, again)
		}
	}
	if name, err := d.Name(idOf("10.55.0.1")); !errors.Is(err, nic.ErrHostNotFound) {
		t.Errorf("an unknown id is called %q, %v", name, err)
	}
}

func mustResolve(t *testing.T, d *nic.Directory, name string) nic.ID {
	t.Helper()
	id, err := d.Resolve(t.Context(), name)
	if err != nil {
		t.Errorf("Resolve(%q): %v", name, err)
	}
	return id
}

func TestLearnedPeers(t *testing.T) {
	d, z := testDirectory()
	peer, addr := nic.ID(0x00163e000001), netip.MustParseAddr("fd00::42")
	d.Learn(peer, addr, "n42:1")
	if name, err := d.Name(peer); err != nil || name != "n42:1" {
		t.Errorf("name %q, %v", name, err)
	}
	if got := d.Addrs(peer); !slices.Equal(got, []netip.Addr{addr}) {
		t.Errorf("addresses %v", got)
	}
	if id := mustResolve(t, d, "N42:1"); id != peer {
		t.Errorf("the learned name leads to %s", id)
	}
	if _, err := d.Resolve(t.Context(), "n42"); !errors.Is(err, errNoSuchHost) {
		t.Errorf("board 0 of a peer of which board 1 is known: %v", err)
	}

	newer := netip.MustParseAddr("fd00::43")
	d.Learn(peer, newer, "")
	if got := d.Addrs(peer); !slices.Equal(got, []netip.Addr{newer, addr}) {
		t.Errorf("addresses after a move %v", got)
	}
	d.Learn(peer, netip.Addr{}, "n43")
	if name, _ := d.Name(peer); name != "n43:0" {
		t.Errorf("name after a change %q", name)
	}
	if _, err := d.Resolve(t.Context(), "n42:1"); err == nil {
		t.Error("the name given up still leads to the peer")
	}

	// A look-up beats a claim.
	d.Learn(peer, netip.Addr{}, "n9")
	if id := mustResolve(t, d, "n9"); id != idOf("fd00::9") {
		t.Errorf("a peer took over the name n9: %s", id)
	}
	z.forget("n9")
	if id := mustResolve(t, d, "n9"); id != idOf("fd00::9") {
		t.Errorf("a peer took over the name n9 when the look-up failed: %s", id)
	}
}

func TestAddressesOfAnIDThatHoldsOne(t *testing.T) {
	d, _ := testDirectory()
	own, other := netip.MustParseAddr("10.0.0.8"), netip.MustParseAddr("192.168.0.8")
	if got := d.Addrs(nic.IDOf(own)); !slices.Equal(got, []netip.Addr{own}) {
		t.Errorf("before it was learned: %v", got)
	}
	d.Learn(nic.IDOf(own), other, "n8")
	d.Learn(nic.IDOf(own), own, "n8")
	if got := d.Addrs(nic.IDOf(own)); !slices.Equal(got, []netip.Addr{own, other}) {
		t.Errorf("after it was learned elsewhere: %v", got)
	}
	if got := d.Addrs(0x00163e000009); got != nil {
		t.Errorf("an unknown id: %v", got)
	}
	for i := range 100 {
		d.Learn(nic.IDOf(own), netip.AddrFrom4([4]byte{192, 168, 1, byte(i)}), "")
	}
	if got := d.Addrs(nic.IDOf(own)); len(got) > 10 || got[0] != own {
		t.Errorf("addresses without bound: %d, first %s", len(got), got[0])
	}
}

func TestPeersCannotSpeakForThisHost(t *testing.T) {
	d, _ := testDirectory()
	evil, local := nic.ID(0x00163e000666), idOf("10.0.0.7")
	for _, name := range []string{"n7", "N7:0", "n7.:1", "localhost", "a.localhost", "10.0.0.7", "bad name", "x\x1b[2J", "", ":", "0x1"} {
		d.Learn(evil, netip.MustParseAddr("10.6.6.6"), name)
		if got, err := d.Name(evil); err != nil || got != "10.6.6.6:0" {
			t.Errorf("a peer called itself %q and is named %q, %v", name, got, err)
		}
	}
	d.Learn(local, netip.MustParseAddr("10.6.6.6"), "evil")
	d.Learn(0, netip.MustParseAddr("10.6.6.6"), "evil")
	d.Learn(idOf("127.3.3.3"), netip.MustParseAddr("10.6.6.6"), "evil")
	if name, _ := d.Name(local); name != "N7:0" {
		t.Errorf("the local board is now called %q", name)
	}
	if got := d.Addrs(local); len(got) != 2 || got[0].String() != "10.0.0.7" {
		t.Errorf("the local board now has %v", got)
	}
	d.Learn(evil, netip.MustParseAddr("127.0.0.1"), "")
	if got := d.Addrs(evil); len(got) != 1 {
		t.Errorf("a peer lives at %v", got)
	}
}

func TestLearnedPeersAreBounded(t *testing.T) {
	d, _ := testDirectory()
	asked := mustResolve(t, d, "n9")
	const first = nic.ID(0x00163e000000)
	for i := range nic.ID(nic.MaxLearnedPeers + 1000) {
		d.Learn(first+i, netip.Addr{}, fmt.Sprintf("peer%d", i))
	}
	if peers, claims := nic.PeersKnown(t, d); peers > nic.MaxLearnedPeers+1 || claims > nic.MaxLearnedPeers {
		t.Errorf("%d peers, %d names", peers, claims)
	}
	if _, err := d.Name(first); err == nil {
		t.Error("the oldest peer is still known")
	}
	if _, err := d.Name(first + nic.MaxLearnedPeers); err != nil {
		t.Error("a new peer was forgotten")
	}
	if name, err := d.Name(asked); err != nil || name != "n9:0" {
		t.Errorf("the peer that was asked for is %q, %v", name, err)
	}
}

func TestManyCallersAtOnce(t *testing.T) {
	d, _ := testDirectory()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				id := 0x00163e000000 + nic.ID(i)
				d.Learn(id, netip.AddrFrom4([4]byte{10, 9, byte(g), byte(i)}), fmt.Sprintf("p%d:%d", i, g))
				d.Resolve(context.Background(), "n8:1")
				d.Name(id)
				d.Addrs(id)
				d.IsLocal(id)
			}
		})
	}
	wg.Wait()
	if got := d.Addrs(0x00163e000000); len(got) != 8 {
		t.Errorf("%d addresses of a peer learned at 8", len(got))
	}
}
