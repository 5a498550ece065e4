//go:build !windows

package linger

// handle is what the system's calls take.
type handle = int
