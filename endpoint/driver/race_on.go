//go:build race

package driver

// racing says that the race detector is on, which does not know the barrier of an endpoint lock.
const racing = true
