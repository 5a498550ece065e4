// Package child runs a program to its end, within a time limit, and makes sure
// that nothing of it stays behind.
//
// A child gets a process group of its own, so that ending it also ends what it
// started, and so that an interrupt typed at the terminal reaches the caller
// alone, who then ends the child in order. This is the only package of the
// comparison that talks to the operating system about processes.
//
// Run may be called by any number of goroutines.
package child
