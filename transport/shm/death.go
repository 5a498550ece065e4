//go:build linux

package shm

import (
	"errors"
	"fmt"
	"io"

	"gomx/transport"
	"gomx/transport/internal/epoll"
	"gomx/transport/internal/segment"
)

// watch waits for what comes on the links' sockets: their ends, each with the end of the peer's
// process or port, and arenas that peers make after the handshake. One goroutine does so for all links.
func (p *port) watch() {
	defer p.watching.Done()
	for {
		n := p.sockets.Pend()
		if n == 0 {
			return
		}
		for i := range n {
			if e := p.sockets.Event(i); e.Readable {
				if l := p.of(e.Key); l != nil {
					l.hear()
				}
			}
		}
	}
}

// join has the link's socket watched.
func (l *link) join(sockets *epoll.Pending) error {
	raw, err := l.conn.SyscallConn()
	if err != nil {
		return err
	}
	added := raw.Control(func(fd uintptr) { err = sockets.Add(int(fd), l.key) })
	return errors.Join(added, err)
}

// hear takes all that has come on the socket. A peer tells of its arena once, so that it can't keep us here.
func (l *link) hear() {
	var b [arenaRangeSize + 1]byte
	for {
		n, fds, err := segment.TakeFDs(l.conn, b[:], 1)
		switch {
		case errors.Is(err, segment.ErrNothing):
			return
		case err == nil && n == arenaRangeSize && len(fds) == 1 && !l.heard:
			l.heard = true
			l.mapArena(parseArenaRange(b[:n]), fds[0])
			continue
		case err == nil:
			closeFDs(fds)
			err = fmt.Errorf("%w: %d bytes and %d descriptors on the socket", transport.ErrCorrupt, n, len(fds))
		case errors.Is(err, io.EOF):
			err = transport.ErrPeerDied
		}
		l.end(err)
		return
	}
}

// end marks the link as ended. The poller delivers what is left in the ring,
// and reports it.
func (l *link) end(reason error) {
	if l.ended.CompareAndSwap(nil, &ending{reason}) {
		l.port.bell.Ring()
	}
}

// corrupt ends a link whose ring holds nonsense. Nothing of it is read again.
func (l *link) corrupt() {
	l.port.events.Count(transport.CorruptFrames)
	l.ended.Store(&ending{transport.ErrCorrupt})
	l.finish()
}

// finish takes the link out of the polling and reports its end.
func (l *link) finish() {
	l.port.remove(l)
	l.port.events.Down(l, fmt.Errorf("shm: %v: %w", l.address, l.ended.Load().reason))
}
