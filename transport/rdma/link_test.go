//go:build linux && cgo

package rdma_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gomx/transport"
	"gomx/transport/rdma"
	"gomx/transport/tcp"
	"gomx/transport/wire"
)

func TestNoSuchDevice(t *testing.T) {
	medium := onDevice(t, rdma.Options{Device: "nowhere0"}, tcp.Options{})
	_, err := medium.Open(transport.Open{Self: transport.Address{NIC: board}, Session: 1, Bell: newBell(t)})
	if !errors.Is(err, transport.ErrUnsupported) || !strings.Contains(err.Error(), "no RDMA device or port nowhere0") {
		t.Errorf("opened on a device that is not there: %v", err)
	}
}

// TestPortGoesDown takes the network from under a link. Both sides are told why it
// ends, and meet again later.
func TestPortGoesDown(t *testing.T) {
	if os.Getenv("GOMX_RDMAVM_HOST") == "" {
		t.Skip("needs the machine of integration/rdmavm: elsewhere it would disturb others")
	}
	near, far := joined(t, rdma.Options{}, tcp.Options{})
	set := func(state string) {
		if out, err := exec.Command("/bin/ip", "link", "set", "d0", state).CombinedOutput(); err != nil {
			t.Errorf("ip link: %v\n%s", err, out)
		}
	}
	t.Cleanup(func() { set("up") })
	set("down")
	near.link.Send(&wire.Header{Kind: wire.Eager}, nil, 0)
	pollBoth := func() { near.port.Poll(near); far.port.Poll(far) }
	await(t, "both ends to be down", func() bool {
		pollBoth()
		return len(near.reasons()) > 0 && len(far.reasons()) > 0
	})
	for e, want := range map[*end]string{near: "queue pair", far: "it closed the connection"} {
		if r := e.reasons(); len(r) != 1 || !strings.Contains(r[0].Error(), want) {
			t.Errorf("%v heard %v, want %q", e.address, r, want)
		}
		e.link.Close()
	}
	set("up")
	await(t, "a link", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		var err error
		near.link, err = near.port.Dial(ctx, far.address)
		return err == nil
	})
	near.link.Bind(1)
	await(t, "its other end", func() bool {
		far.mu.Lock()
		defer far.mu.Unlock()
		far.link = far.accepted[len(far.accepted)-1]
		return len(far.accepted) == 2
	})
	far.link.Bind(0)
	near.link.Send(&wire.Header{Kind: wire.Eager}, nil, 0)
	await(t, "a frame", func() bool { pollBoth(); return far.frames == 1 })
}

// TestNotSpoken dials an endpoint that has no RDMA.
func TestNotSpoken(t *testing.T) {
	near := open(t, onDevice(t, rdma.Options{}, tcp.Options{}), 0)
	handshake := tcp.Options{Serves: []tcp.Purpose{tcp.Frames}}
	onPortsOf(&handshake)
	bell := newBell(t)
	far, err := tcp.New(handshake).Open(transport.Open{Self: transport.Address{NIC: board, Endpoint: 1}, Session: 2, Events: near, Bell: bell})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = far.Close(); bell.Close() })
	_, err = near.port.Dial(t.Context(), transport.Address{NIC: board, Endpoint: 1})
	if !errors.Is(err, transport.ErrUnsupported) || !strings.Contains(err.Error(), "it does not speak RDMA") {
		t.Errorf("dialled an endpoint without RDMA: %v", err)
	}
}

// TestMorePeersThanReceives dials until the other side has granted credits for all receives that
// the device has. It says so, and takes more when some have gone.
func TestMorePeersThanReceives(t *testing.T) {
	medium := onDevice(t, rdma.Options{Credits: rdma.MostCredits}, tcp.Options{})
	near, far := open(t, medium, 0), open(t, medium, 1)
	var links []transport.Link
	dial := func() error {
		l, err := near.port.Dial(t.Context(), far.address)
		if err == nil {
			links = append(links, l)
		}
		return err
	}
	const bound = 1000 // of which each takes 6 receives or more, of some thousand
	var err error
	for len(links) < bound && err == nil {
		err = dial()
	}
	t.Logf("%d links", len(links))
	if err == nil || !strings.Contains(err.Error(), "has receives for no more peers") {
		t.Fatalf("after %d links: %v", len(links), err)
	}
	far.mu.Lock()
	if n := len(far.refusals); n == 0 || !strings.Contains(far.refusals[n-1].Error(), "has receives for no more peers") {
		t.Errorf("the other side reports %v", far.refusals)
	}
	far.mu.Unlock()
	for _, l := range links {
		l.Close()
	}
	links = nil
	await(t, "room for another link", func() bool {
		far.mu.Lock()
		accepted := far.accepted
		far.accepted = nil
		far.mu.Unlock()
		for _, l := range accepted {
			l.Close()
		}
		near.port.Poll(near)
		far.port.Poll(far)
		return dial() == nil
	})
}
