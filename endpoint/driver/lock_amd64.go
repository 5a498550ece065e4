package driver

// storeRelease stores a word of the endpoint lock with release order, which every store of these processors has. A later
// load may be executed before it. An atomic store would prevent that at the price of a locked instruction; the
// barrier of foreign callers makes it unnecessary.
func storeRelease(word *uint32, v uint32) { *word = v }
