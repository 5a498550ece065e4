//go:build linux

package live_test

import (
	"os"
	"testing"

	"gomx/mx"
	"gomx/mx/live"
)

// BenchmarkOpenFirst opens the first endpoint of a process, with the socket that tools ask.
func BenchmarkOpenFirst(b *testing.B) {
	if err := mx.Init(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 7)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		ep.Close()
		b.StartTimer()
	}
	if err := mx.Finalize(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRead reads a process with one endpoint, which is this one.
func BenchmarkRead(b *testing.B) {
	if err := mx.Init(); err != nil {
		b.Fatal(err)
	}
	ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 7)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := live.Read(os.Getpid()); err != nil {
			b.Fatal(err)
		}
	}
	ep.Close()
	if err := mx.Finalize(); err != nil {
		b.Fatal(err)
	}
}
