package mem_test

import (
	"testing"

	"gomx/internal/testlength"
	"gomx/transport"
	"gomx/transport/mem"
	"gomx/transport/transporttest"
)

func TestConformance(t *testing.T) {
	testlength.Long(t)
	for name, o := range map[string]mem.Options{
		"reliable": {Poison: true},
		"narrow":   {Poison: true, Depth: 10, MaxFrame: 1000},
		"healing":  {Poison: true, Heals: true, Pulls: mem.Pulls{Seed: 1, Delay: 3}},
		"lossy":    {Poison: true, Faults: mem.Faults{Seed: 1, Drop: 0.2, Duplicate: 0.1, Reorder: 0.3, MaxDelay: 5, CutEvery: 100, CutFor: 10}},
	} {
		transporttest.Run(t, transporttest.Factory{
			Name:    name,
			New:     func(testing.TB) transport.Transport { return mem.NewNetwork(o) },
			NewBell: func(testing.TB) transport.Doorbell { return mem.NewBell() },
		})
	}
}
