//go:build linux && cgo

package rdma

import (
	"time"

	"gomx/transport/rdma/internal/verbs"
)

// A message in memory that is not registered goes through a registered slot if copying
// it costs less than registering its memory for once. Where that changes depends on
// device and system, mostly on what registering costs at all, so it is measured when an
// endpoint opens.
const (
	leastBounce = 32 << 10
	mostBounce  = 256 << 10
	bounceTries = 3 // the quickest counts: the others were disturbed
)

// crossover returns how many bytes are copied in the time in which as many are
// registered, a power of two within the bounds.
func crossover(d *verbs.Domain) int {
	mem, copied := make([]byte, mostBounce), make([]byte, mostBounce)
	for n := leastBounce; n < mostBounce; n *= 2 {
		register, err := quickest(func() error {
			r, err := d.Register(mem[:2*n], verbs.LocalWrite)
			if err != nil {
				return err
			}
			return r.Close()
		})
		if err != nil {
			return leastBounce // too much memory: the pool says so, if even that is
		}
		bounce, _ := quickest(func() error { copy(copied, mem[:2*n]); return nil })
		if bounce > register {
			return n
		}
	}
	return mostBounce
}

func quickest(f func() error) (best time.Duration, err error) {
	for i := range bounceTries {
		began := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		if took := time.Since(began); i == 0 || took < best {
			best = took
		}
	}
	return best, nil
}
