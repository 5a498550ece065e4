package endpoint_test

import (
	"testing"

	"gomx/endpoint"
	"gomx/endpoint/endpointtest"
	"gomx/transport/wire"
)

// Both sides of a session learn of the contexts of the other, over all kinds of media, and anew with each session.
func TestContextsAreKnownWithTheSession(t *testing.T) {
	for name, caps := range map[string]wire.Caps{
		"safe": endpointtest.Reliable(false), "lossy": endpointtest.Lossy(false), "healing": endpointtest.Healing(false),
	} {
		t.Run(name, func(t *testing.T) {
			w := &endpointtest.World{Caps: caps}
			cfg := func(session uint32, names ...string) endpoint.Config {
				return endpoint.Config{Session: session, EagerLimit: -1, CopyLimit: -1, Contexts: wire.MakeContexts(names, 0)}
			}
			a, b := w.Add("a", cfg(0x100)), w.Add("b", cfg(0x200, "control", "data"))
			know := func(n, m *endpointtest.Node, want wire.Contexts) {
				t.Helper()
				addr, ok := n.Engine.AddrOf(n.PeerOf(m))
				if !ok {
					t.Fatalf("%s has no address of %s", n.Name, m.Name)
				}
				got, known := n.Engine.ContextsOf(addr)
				if !known || got != want || n.Engine.ContextsOfPeer(addr.Peer) != want {
					t.Errorf("%s: %s has contexts %+v, %v; want %+v", n.Name, m.Name, got, known, want)
				}
				if to, ok := n.Engine.ConnectedWith(m.NIC, 0); !ok || to != addr {
					t.Errorf("%s is not connected with %s", n.Name, m.Name)
				}
			}
			if _, ok := a.Engine.ContextsOf(endpoint.Addr{Peer: 7, Session: 1}); ok {
				t.Error("contexts of an address of nobody")
			}
			if _, ok := a.Engine.ConnectedWith(b.NIC, 0); ok {
				t.Error("connected before a connect")
			}
			if c, ok := b.Engine.ContextsOf(b.Engine.Self()); !ok || c.Count() != 2 {
				t.Errorf("its own contexts are %+v", c)
			}
			a.Connect(b, 0, 0)
			w.Run()
			know(a, b, wire.Contexts{Number: 2, Names: "control\x00data"})
			know(b, a, wire.Contexts{})

			b.Reopen(cfg(0x5000, "", "", ""))
			w.Break(a, b, nil)
			a.Connect(b, 0, 0)
			w.Run()
			if to, ok := a.Engine.ConnectedWith(b.NIC, 0); ok {
				if c, _ := a.Engine.ContextsOf(to); c.Count() != 3 {
					t.Errorf("after another incarnation: %+v", c)
				}
			} else if name == "safe" {
				t.Error("not connected again")
			}
		})
	}
}
