package mx_test

import (
	"testing"

	"gomx/mx"
)

// BenchmarkConnectAll connects with a thousand endpoints of this process over tcp, which all take part in accepting.
func BenchmarkConnectAll(b *testing.B) {
	initialize(b)
	const peers = 1000
	open := func() *mx.Endpoint {
		ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, testFilter, mx.WithTransports("tcp"))
		if err != nil {
			b.Fatal(err)
		}
		return ep
	}
	var names []mx.PeerName
	for range peers {
		ep := open()
		defer ep.Close()
		nic, id := place(b, ep)
		names = append(names, mx.PeerName{NIC: nic, Endpoint: id, Filter: testFilter})
	}
	for b.Loop() {
		b.StopTimer()
		ep := open()
		b.StartTimer()
		if _, err := ep.ConnectAll(noContext, names); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		ep.Close()
		b.StartTimer()
	}
}
