//go:build !amd64

package ring

// prefetchWrite leaves the fetching to the store.
func prefetchWrite(*slot) {}
