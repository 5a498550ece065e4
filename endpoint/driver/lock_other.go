//go:build !amd64

package driver

import "sync/atomic"

// storeRelease stores a word of the endpoint lock, after all earlier stores.
func storeRelease(word *uint32, v uint32) { atomic.StoreUint32(word, v) }
