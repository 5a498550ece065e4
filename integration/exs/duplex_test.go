//go:build linux

package exs_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"

	"gomx/exs"
	"gomx/integration/internal/proc"
)

// The seeds of what the two sides of a connection send.
const (
	clientSeed = 1
	serverSeed = 2
)

// serverRole is a role: it takes one connection of a kind, sends so many bytes and
// receives as many, at once, and checks them.
func serverRole(c *proc.Child) {
	l := ownLibrary(c)
	post, err := l.Socket(exs.Inet, typeOf(c.Args[0]), 0)
	if err == nil {
		err = post.Bind(netip.MustParseAddrPort("127.0.0.1:0"))
	}
	if err == nil {
		err = post.Listen(1)
	}
	if err != nil {
		c.Fail(err)
	}
	addr, _ := post.SockName()
	c.Say("at %v", addr)
	s, _, err := post.BlockingAccept()
	if err != nil {
		c.Fail(err)
	}
	exchange(c, l, s, serverSeed, clientSeed)
}

// clientRole is the other side's: its third argument is where the server is.
func clientRole(c *proc.Child) {
	l := ownLibrary(c)
	addr, err := netip.ParseAddrPort(c.Args[2])
	if err != nil {
		c.Fail(err)
	}
	s, err := l.Socket(exs.Inet, typeOf(c.Args[0]), 0)
	if err == nil {
		err = s.BlockingConnect(addr)
	}
	if err != nil {
		c.Fail(err)
	}
	exchange(c, l, s, clientSeed, serverSeed)
}

func exchange(c *proc.Child, l *exs.Library, s *exs.Socket, out, in uint64) {
	ep, err := l.Endpoint()
	if err != nil {
		c.Fail(err)
	}
	c.Say("endpoint %d", ep.ID())
	whole := c.Args[0] == packets
	sent := make(chan error, 1)
	go func() { sent <- send(s, int(c.Number(1)), out) }()
	if err := take(s, int(c.Number(1)), in, whole); err != nil {
		c.Fail(err)
	}
	if err := <-sent; err != nil {
		c.Fail(err)
	}
	if err := s.BlockingClose(); err != nil {
		c.Fail(err)
	}
	c.Say("done")
	c.Hear()
}

// script makes the sizes and the contents of what one side sends.
type script struct {
	sizes *rand.Rand
	seed  byte
	at    int
	left  int
}

const longestPiece = 40_000

func newScript(bytes int, seed uint64) *script {
	return &script{rand.New(rand.NewPCG(seed, 0)), byte(seed), 0, bytes}
}

// next fills b with the next piece.
func (s *script) next(b []byte) []byte {
	n := 1 + s.sizes.IntN(longestPiece)
	if s.sizes.IntN(3) == 0 {
		n = 1 + n%100
	}
	n = min(n, s.left)
	for i := range b[:n] {
		at := s.at + i
		b[i] = byte(at) ^ byte(at>>8)*31 ^ byte(at>>16)*17 ^ s.seed*101
	}
	s.at += n
	s.left -= n
	return b[:n]
}

func send(to io.Writer, bytes int, seed uint64) error {
	b := make([]byte, longestPiece)
	for s := newScript(bytes, seed); s.left > 0; {
		if _, err := to.Write(s.next(b)); err != nil {
			return fmt.Errorf("after %d bytes: %w", s.at, err)
		}
	}
	return nil
}

// take receives all of it, in pieces as they were sent or, of a stream, as they come.
func take(from io.Reader, bytes int, seed uint64, whole bool) error {
	want, got := make([]byte, longestPiece), make([]byte, longestPiece+1)
	for s := newScript(bytes, seed); s.left > 0; {
		next := s.next(want)
		n, err := len(next), error(nil)
		if whole {
			n, err = from.Read(got)
		} else {
			_, err = io.ReadFull(from, got[:n])
		}
		if err != nil || string(got[:n]) != string(next) {
			return fmt.Errorf("behind byte %d: %d bytes, not the %d that were sent: %v", s.at-len(next), n, len(next), err)
		}
	}
	return nil
}
