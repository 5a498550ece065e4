package exs

import (
	"os"

	"gomx/mx"
)

// noFiles says what happens to clients when no more files can be opened.
const noFiles = "clients wait until a file descriptor is free"

// outOfFiles reports whether the process, or the system, can open no more files.
func outOfFiles(n Errno) bool { return n == EMFILE || n == ENFILE }

// shortage is EMFILE or ENFILE with a remedy in its text. As in package net it is temporary: servers log it, and call Accept again.
type shortage struct{ Errno }

func (s shortage) Error() string { return clearer[s.Errno] + ": " + noFiles }

// Unwrap returns the number.
func (s shortage) Unwrap() error { return s.Errno }

// linkFiles is how many files a connection between two endpoints takes at each while it is made, over the transport that takes
// the most, shared memory.
const linkFiles = 4

// lackOfFiles returns why the process can't open the files that a connection to an endpoint takes, or nil. Its endpoint would keep
// the client waiting without a word to the program.
func (l *Library) lackOfFiles(to endpointAddr) error {
	for range linkFiles {
		f, err := os.Open(os.DevNull)
		switch {
		case err == nil:
			defer f.Close()
		case outOfFiles(errnoOf(err, 0)) && !l.knows(to):
			return err
		default:
			return nil
		}
	}
	return nil
}

// knows reports whether there is a connection to an endpoint.
func (l *Library) knows(to endpointAddr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range l.peers {
		if nic, eid, err := mx.DecomposeEndpointAddr(p); err == nil && nic == to.nic && eid == to.eid {
			return true
		}
	}
	return to == l.home
}
