// Package bulk copies large blocks of memory that another core has just written.
//
// Such a copy waits for cache lines to come from the other core, and is as quick
// as many of them are on their way at once. The processor's own string copy asks
// for far more than a loop of vector moves does: it takes about two thirds of the
// time between cores that share a cache, and half or less between those that
// don't. The copy of the Go runtime uses it on some processors only.
package bulk
