package endpoint_test

import (
	"math/rand/v2"
	"testing"

	"gomx/endpoint"
	"gomx/endpoint/endpointtest"
	"gomx/internal/testlength"
)

// TestAnyOrderWithinTheReserve: of the messages of each sender, a receiver that takes them in whatever order gets each that has fewer
// in front of it than the sender's reserve has headers, however small the pools are, and whoever has used them up.
func TestAnyOrderWithinTheReserve(t *testing.T) {
	testlength.Alone(t)
	const reserve, senders = 64, 3
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 2))
		cfg := endpoint.Config{
			EagerLimit: -1, CopyLimit: -1, Session: 1,
			UnexpectedBytes: 1 + rng.IntN(2)*rng.IntN(20_000), UnexpectedHeaders: 1 + rng.IntN(2)*rng.IntN(300), UnexpectedReserve: 1 + rng.IntN(2)*rng.IntN(4000),
		}
		f := flood(t, endpointtest.Reliable(rng.IntN(2) == 0), cfg, senders, 0, 0)
		var sent [senders]uint64
		var here [senders][]uint64 // messages that were not received, oldest first
		for range 1500 {
			from := rng.IntN(senders)
			for range rng.IntN(20) {
				if len(here[from]) < 3*reserve {
					f.send(t, f.senders[from], f.b, []int{0, 8, 17, 64, 65, 500, 1023, 1024, 2000}[rng.IntN(9)], uint64(from)<<32|sent[from], endpoint.BufferFree)
					here[from] = append(here[from], sent[from])
					sent[from]++
				}
			}
			for range rng.IntN(12) {
				if n := min(len(here[from]), reserve); n > 0 {
					k := rng.IntN(n)
					r := f.recv(t, f.b, 2000, uint64(from)<<32|here[from][k], ^uint64(0))
					f.settle()
					done(t, "receive", f.b, r)
					if t.Failed() {
						t.Fatalf("seed %d, bounds %d, %d, %d: message %d of sender %d, %d in front", seed,
							cfg.UnexpectedBytes, cfg.UnexpectedHeaders, cfg.UnexpectedReserve, here[from][k], from, k)
					}
					here[from] = append(here[from][:k], here[from][k+1:]...)
				}
			}
		}
	}
}
