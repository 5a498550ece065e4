//go:build linux

package tcp

import (
	"context"
	"syscall"

	"gomx/transport"
	"gomx/transport/tcp/internal/sock"
)

// What docs/wire.md has figures of.
const (
	HelloSize    = helloSize
	LatePolls    = latePolls
	Version      = version
	Handshakes   = maxPending
	LeastStay    = leastStay
	FirstPause   = firstPause
	LongestPause = longestPause
	NextAddress  = nextAddress
	CloseBound   = transport.CloseBound
	LingerBound  = lingerBound
	LastAnswer   = tlsUnknown
)

// TakeTurn waits for a turn to dial a host that answers.
func TakeTurn(ctx context.Context, secure bool) (giveBack func(), err error) {
	t, err := takeTurn(ctx, secure)
	if err != nil {
		return nil, err
	}
	t.heard()
	return t.end, nil
}

// Turns is how many there are.
var Turns = cap(turns)

// AnswerText returns what an answer means to the side that gets it.
func AnswerText(n int) string { return answer(n).String() }

// Refuse has a link find that the system refuses to send, though the connection stands.
func Refuse(l transport.Link, errno syscall.Errno) { l.(*link).short(sock.Errno(errno)) }

// Buffered returns the unparsed bytes of a link, and the size of its own buffer.
func Buffered(l transport.Link) (unparsed, own int) {
	return len(l.(*link).unparsed), len(l.(*link).own)
}
