//go:build linux

package exs_test

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"os"
	"testing"
	"time"

	"gomx/exs"
	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
)

// leave is a role: it connects, writes, closes, and ends without finalizing anything.
func leave(c *proc.Child) {
	kind, at, size, pieces := c.Args[0], c.Args[1], int(c.Number(2)), int(c.Number(3))
	l := ownLibrary(c)
	conn, err := leaver(l, kind, at)
	if err != nil {
		c.Fail(err)
	}
	writeInPieces(c, conn, leftBehind(size), pieces)
	if err := conn.Close(); err != nil {
		c.Fail(err)
	}
	c.Say("closed")
}

func writeInPieces(c *proc.Child, conn io.Writer, rest []byte, pieces int) {
	for i := range pieces {
		n := len(rest) / (pieces - i)
		if n == 0 {
			continue
		}
		if _, err := conn.Write(rest[:n]); err != nil {
			c.Fail(err)
		}
		rest = rest[n:]
	}
}

// leaver makes the connection of one who leaves.
func leaver(l *exs.Library, kind, at string) (io.WriteCloser, error) {
	if kind == conns {
		return l.Dial("exs", at)
	}
	s, err := l.Socket(exs.Inet, typeOf(kind), 0)
	if err != nil {
		return nil, err
	}
	return leavingSocket{s}, s.BlockingConnect(netip.MustParseAddrPort(at))
}

type leavingSocket struct{ *exs.Socket }

func (s leavingSocket) Close() error { return s.BlockingClose() }

// leftBehind is what is written, by its length.
func leftBehind(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i) ^ byte(i>>8)*31 ^ byte(size)
	}
	return b
}

// What was written before a Close is read to the last byte, and then the end, though the process that wrote it has ended before
// the first Read.
func TestCloseAndLeave(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	for _, medium := range []string{"shm", "tcp"} {
		for _, kind := range []string{conns, streams, packets} {
			t.Run(medium+"/"+kind, func(t *testing.T) {
				t.Parallel()
				closeAndLeave(t, medium, kind)
			})
		}
	}
}

func closeAndLeave(t *testing.T, medium, kind string) {
	ln, at := listens(t, library(t, medium), kind)
	for _, size := range []int{1, 100, 5_000, 20_000, 70_000, 300_000, 1 << 20} {
		for _, pieces := range []int{1, 7, 300} {
			if kind == packets && (pieces > exs.DefaultCredits || size/pieces > 3_000) {
				continue // for these a receive is needed
			}
			child := start(t, medium, "leave", kind, at, size, pieces)
			s, _, err := ln.BlockingAccept()
			if err != nil {
				t.Fatal(err)
			}
			child.Hear("closed")
			if err := child.Wait(); err != nil {
				t.Fatal(err)
			}
			got, err := readToEnd(s)
			if err != nil || !bytes.Equal(got, leftBehind(size)) {
				t.Fatalf("%d of %d bytes in %d pieces, %v", len(got), size, pieces, err)
			}
			if err := s.BlockingClose(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func listens(t *testing.T, l *exs.Library, kind string) (*exs.Socket, netip.AddrPort) {
	t.Helper()
	ln, err := l.Socket(exs.Inet, typeOf(kind), 0)
	if err == nil {
		err = ln.Bind(netip.MustParseAddrPort("127.0.0.1:0"))
	}
	if err == nil {
		err = ln.Listen(1)
	}
	if err != nil {
		t.Fatal(err)
	}
	at, _ := ln.SockName()
	return ln, at
}

// readToEnd reads bytes, or packets, until there are no more.
func readToEnd(s *exs.Socket) (all []byte, err error) {
	b := make([]byte, 64<<10)
	for {
		n, err := s.Read(b)
		if all = append(all, b[:n]...); err == io.EOF {
			return all, nil
		} else if err != nil {
			return all, err
		}
	}
}

// depart is a role: it connects, writes, and ends without a Close, by itself or when it is killed.
func depart(c *proc.Child) {
	kind, at, size, pieces, how := c.Args[0], c.Args[1], int(c.Number(2)), int(c.Number(3)), c.Args[4]
	conn, err := leaver(ownLibrary(c), kind, at)
	if err != nil {
		c.Fail(err)
	}
	writeInPieces(c, conn, leftBehind(size), pieces)
	if os.Getenv(mediumKey) == "tcp" {
		time.Sleep(50 * time.Millisecond) // what was written last may still be in this process
	}
	c.Say("written")
	if how == "killed" {
		select {}
	}
}

// What has come from a process that has ended without a Close is read to the last byte, and then the reset.
func TestLeaveWithoutClosing(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	for _, medium := range []string{"shm", "tcp"} {
		for _, kind := range []string{conns, streams, packets} {
			for _, how := range []string{"exits", "killed"} {
				t.Run(medium+"/"+kind+"/"+how, func(t *testing.T) {
					t.Parallel()
					leaveWithoutClosing(t, medium, kind, how)
				})
			}
		}
	}
}

func leaveWithoutClosing(t *testing.T, medium, kind, how string) {
	ln, at := listens(t, library(t, medium), kind)
	for _, size := range []int{1, 100, 20_000, 300_000} {
		for _, pieces := range []int{1, 20} {
			if kind == packets && size/pieces > 3_000 {
				continue // for these a receive is needed
			}
			child := start(t, medium, "depart", kind, at, size, pieces, how)
			s, _, err := ln.BlockingAccept()
			if err != nil {
				t.Fatal(err)
			}
			child.Hear("written")
			if how == "killed" {
				child.Kill()
			} else if err := child.Wait(); err != nil {
				t.Fatal(err)
			}
			got, err := readToEnd(s)
			if !errors.Is(err, exs.ECONNRESET) || !bytes.Equal(got, leftBehind(size)) {
				t.Fatalf("%d of %d bytes in %d pieces, %v", len(got), size, pieces, err)
			}
			if err := s.BlockingClose(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
