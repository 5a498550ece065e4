package mx

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gomx/transport/nic"
)

// resolveTime bounds a look-up of a name on the network.
const resolveTime = 10 * time.Second

// HostnameToNICID returns the NIC id behind a name (IV.1.1): "host",
// "host:board", an IP address, or a NIC id in hexadecimal. "localhost" is this
// host's board 0. Case and a final dot of a host don't count. Error: ErrHostNotFound, also if the host has no such board. Safe from any goroutine.
func HostnameToNICID(name string) (uint64, error) {
	dir, err := directory("hostname to NIC id")
	if dir == nil {
		return 0, err
	}
	if nic.IsLocalhost(name) {
		b, err := dir.Board(0)
		return uint64(b.ID), err
	}
	ctx, cancel := context.WithTimeout(context.Background(), resolveTime)
	defer cancel()
	id, err := dir.Resolve(ctx, name)
	if missing, ok := errors.AsType[*nic.NotFoundError](err); ok { // ours has the name
		err = missing.Reason
	}
	if errors.Is(err, nic.ErrBoardUnknown) { // the host is found
		err = &instead{err.Error(), err}
	}
	if err != nil {
		return 0, fail("hostname to NIC id", ErrHostNotFound, name, err)
	}
	return uint64(id), nil
}

// NICIDToHostname returns the name of a NIC, "host:board" (IV.1.2), which HostnameToNICID
// takes. That of the board that reaches this host alone begins with "localhost". Error:
// ErrHostNotFound. Safe from any goroutine.
func NICIDToHostname(id uint64) (string, error) {
	dir, err := directory("NIC id to hostname")
	if dir == nil {
		return "", err
	}
	name, err := dir.Name(nic.ID(id))
	if err != nil {
		return "", fail("NIC id to hostname", ErrHostNotFound, nic.ID(id).String(), err)
	}
	return name, nil
}

// BoardNumberToNICID returns the NIC id of a board of this host (IV.2.1). Error:
// ErrBoardUnknown. Safe from any goroutine.
func BoardNumberToNICID(board uint32) (uint64, error) {
	b, _, err := boardAt("board number to NIC id", board)
	return uint64(b.ID), err
}

// NICIDToBoardNumber returns which board of this host has the NIC id (IV.2.2).
// Error: ErrBoardUnknown. Safe from any goroutine.
func NICIDToBoardNumber(id uint64) (uint32, error) {
	dir, err := directory("NIC id to board number")
	if dir == nil {
		return 0, err
	}
	n, err := dir.BoardNumber(nic.ID(id))
	if err != nil {
		return 0, fail("NIC id to board number", ErrBoardUnknown, nic.ID(id).String(), nil)
	}
	return uint32(n), nil
}

// boardAt returns a board. Not ok: the error is what the error handler says.
func boardAt(op string, board uint32) (b nic.Board, ok bool, err error) {
	dir, err := directory(op)
	if dir == nil {
		return b, false, err
	}
	if b, err = localBoard(dir, board); err != nil {
		return b, false, fail(op, ErrBoardUnknown, "", err)
	}
	return b, true, nil
}

func localBoard(dir *nic.Directory, board uint32) (nic.Board, error) {
	boards := dir.Boards()
	if int64(board) >= int64(len(boards)) {
		return nic.Board{}, fmt.Errorf("%w: board %d of %d", ErrBoardUnknown, board, len(boards))
	}
	return boards[board], nil
}
