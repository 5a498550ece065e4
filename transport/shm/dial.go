//go:build linux

package shm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"gomx/transport"
	"gomx/transport/internal/segment"
	"gomx/transport/shm/internal/cma"
	"gomx/transport/shm/internal/ring"
)

// The segment of a pair: the generations of exports and then the rings, each first of the
// side that dialled.
const (
	page     = 4096
	ringSpan = (ring.Size + page - 1) &^ (page - 1)
	rings    = 2 * tableSpan
	pairSize = rings + 2*ringSpan

	handshakeTime = 5 * time.Second
)

func ringOut(mem []byte, dialled bool) []byte {
	if dialled {
		return mem[rings : rings+ringSpan]
	}
	return mem[rings+ringSpan:]
}

func ringIn(mem []byte, dialled bool) []byte { return ringOut(mem, !dialled) }

// Dial meets the endpoint at peer.
func (p *port) Dial(ctx context.Context, peer transport.Address) (transport.Link, error) {
	l, err := p.dial(ctx, peer)
	if err != nil {
		return nil, fmt.Errorf("shm: %w", transport.Shortage(err))
	}
	return l, nil
}

func (p *port) dial(ctx context.Context, peer transport.Address) (*link, error) {
	if p.closed.Load() {
		return nil, transport.ErrClosed
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unixpacket", socketName(peer).Name)
	if err != nil {
		switch {
		case errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT):
			err = transport.ErrNoPeer
		case errors.Is(err, syscall.EAGAIN):
			err = fmt.Errorf("%w: very many others dial it: %w", transport.ErrSlow, err)
		}
		return nil, err
	}
	c := conn.(*net.UnixConn)
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	l, err := p.greet(ctx, c, peer)
	stop()
	if err != nil {
		_ = c.Close()
		return nil, asSlow(ctx, err)
	}
	return l, nil
}

// asSlow says of a peer that has not answered in time, or has turned us away without a
// word, that it is slow. If it has closed its endpoint, the next dial finds nobody.
func asSlow(ctx context.Context, err error) error {
	timeout, ok := errors.AsType[net.Error](err)
	late := ok && timeout.Timeout()
	switch {
	case ctx.Err() != nil:
	case late:
		return fmt.Errorf("%w: its process may be stopped, or out of file descriptors (ulimit -n): %w", transport.ErrSlow, err)
	case brokenOff(err):
		return fmt.Errorf("%w: it closed the connection during the handshake, and may be out of file descriptors (ulimit -n): %w",
			transport.ErrSlow, err)
	}
	return err
}

// greet makes the pair's segment, sends it, and takes the answer.
func (p *port) greet(ctx context.Context, c *net.UnixConn, peer transport.Address) (*link, error) {
	deadline := time.Now().Add(handshakeTime)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	_ = c.SetDeadline(deadline)
	pid, err := sameUser(c)
	if err != nil {
		return nil, err
	}
	_ = cma.AllowPeer(pid)
	pair, err := segment.Create("gomx-pair", pairSize)
	if err != nil {
		return nil, err
	}
	arena, err := p.introduce(c, pair)
	if err != nil {
		_ = pair.Close()
		return nil, lastWord(c, err)
	}
	pair.CloseFD()
	h, fds, err := p.listen(c, 2)
	if err == nil && h.self != peer {
		closeFDs(fds)
		err = fmt.Errorf("%w: %v answered", transport.ErrRefused, h.self)
	}
	if err != nil {
		_ = pair.Close()
		return nil, lastWord(c, err)
	}
	_ = c.SetDeadline(time.Time{})
	return p.newLink(c, pair, true, pid, h, fds, arena)
}
