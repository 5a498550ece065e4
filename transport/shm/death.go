//go:build linux

package shm

import (
	"errors"
	"fmt"
	"io"

	"gomx/transport"
	"gomx/transport/internal/segment"
)

// watch waits for the end of the socket, which comes with the end of the peer's
// process or port, and for arenas the peer makes after we have met.
func (l *link) watch() {
	var b [placeSize + 1]byte
	for {
		n, fds, err := segment.RecvFDs(l.conn, b[:], 1)
		if err == nil && n == placeSize && len(fds) == 1 {
			l.mapArena(parsePlace(b[:n]), fds[0])
			continue
		}
		closeFDs(fds)
		switch {
		case err == nil:
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
