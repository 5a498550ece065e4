package mx

import "gomx/transport/nic"

// Version is the version of this library.
const Version = "0.1.0"

// API is the version of MX's interface that it follows, as in MX's headers.
const API = 0x301

// Board describes a board: a way onto a network, and always at least the host.
type Board = nic.Board

// Boards returns the boards of this host, in the order of their numbers. Error:
// ErrNotInitialized. Safe from any goroutine.
func Boards() ([]Board, error) {
	dir, err := directory("boards")
	if err != nil {
		return nil, err
	}
	return dir.Boards(), nil
}
