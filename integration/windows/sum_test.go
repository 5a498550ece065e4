//go:build linux

package windows_test

import (
	"flag"
	"testing"

	"gomx/integration/internal/proc"
	"gomx/integration/internal/traffic"
)

var adds = flag.Int("windows.adds", 20_000, "fetch-and-adds of each origin in TestSumOfManyOrigins")

// Four processes add to one number of a fifth. Each addition is carried out once.
func TestSumOfManyOrigins(t *testing.T) {
	const adders = 4
	over(t, func(t *testing.T, medium string) {
		o := proc.Options{Env: []string{"MX_TRANSPORT=" + medium}}
		owner := traffic.Start(t, o)
		id := owner.Open(-1)
		var peers []*traffic.Peer
		var to []uint32
		for range adders {
			p := traffic.Start(t, o)
			p.Open(-1)
			peers, to = append(peers, p), append(to, p.Connect("localhost", id))
		}
		traffic.AddFrom(t, owner, peers, to, rounds(*adds))
	})
}
