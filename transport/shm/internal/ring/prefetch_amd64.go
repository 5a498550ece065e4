package ring

// prefetchWrite has the line of a slot fetched for writing. The line comes while
// the core goes on, so that a later store need not wait for it.
//
//go:noescape
func prefetchWrite(s *slot)
