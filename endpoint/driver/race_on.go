//go:build race

package driver

// racing: the race detector is looking, which does not know the barrier of an endpoint lock.
const racing = true
