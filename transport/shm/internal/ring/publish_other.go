//go:build !amd64

package ring

import "sync/atomic"

// publish stores the word that makes a slot, or the reader's progress, visible.
func publish(p *uint64, v uint64) { atomic.StoreUint64(p, v) }
