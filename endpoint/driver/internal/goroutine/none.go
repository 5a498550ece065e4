//go:build !amd64 && !arm64

// Package goroutine tells goroutines apart.
package goroutine

// Current returns 0: on this processor goroutines can't be told apart.
func Current() uintptr { return 0 }
