//go:build !amd64

package driver

import "sync/atomic"

// say writes a word of the gate, after all that was written before it.
func say(word *uint32, v uint32) { atomic.StoreUint32(word, v) }
