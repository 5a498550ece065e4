// Package proc starts the test binary again as another process, in a named role,
// and talks to it in lines of text.
//
// A child ends when its parent does, or when its time is up: none outlives a
// test run, however that ends.
package proc
