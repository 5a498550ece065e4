//go:build linux

package shm

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"

	"gomx/transport"
	"gomx/transport/bell"
	"gomx/transport/internal/segment"
	"gomx/transport/shm/internal/cma"
	"gomx/transport/shm/internal/ring"
	"gomx/transport/wire"
)

// link is a connection to one peer. All but hear runs under the endpoint's lock.
type link struct {
	out    *ring.Writer // nil once closed
	bell   *bell.Remote
	caps   *wire.Caps
	in     *ring.Reader
	peer   int32 // the engine's number of the peer
	rested bool  // the last look found nothing

	port    *port
	conn    *net.UnixConn
	key     int32 // of conn among the sockets that the port watches
	pair    *segment.Mem
	address transport.Address
	session uint32
	pid     int

	direct    atomic.Pointer[ending] // why the peer's memory can't be read, or nil
	scratch   cma.Scratch
	tardy     bool // the peer, once, has copied for longer than the end of an export waits
	exported  exports
	theirs    generations // of what the peer exports
	chooser   chooser
	blocks    blockTimer
	far       atomic.Pointer[farArena] // the peer's arena, mapped
	announced bool                     // the peer knows our arena
	heard     bool                     // we know the peer's

	released atomic.Bool // nothing may be mapped any more

	ended atomic.Pointer[ending]
}

// ending says why a link, or a way of copying, ended.
type ending struct{ reason error }

var errSwitchedOff = errors.New("switched off")

// newLink takes over the connection, the segment and the descriptors of the
// peer's doorbell and arena, also when it fails.
func (p *port) newLink(c *net.UnixConn, pair *segment.Mem, dialled bool, pid int, h hello, fds []int, announced bool) (*link, error) {
	l := &link{
		port: p, conn: c, pair: pair, caps: p.caps, peer: -1,
		address: h.self, session: h.session, pid: pid, announced: announced, chooser: chooser{port: &p.learned},
	}
	rest := fds[2:]
	remote, err := bell.Attach(fds[0], fds[1])
	if err == nil {
		l.bell = remote
		err = l.openRings(dialled)
	}
	if err != nil {
		closeFDs(rest)
		l.release()
		return nil, err
	}
	if len(rest) > 0 {
		l.heard = true
		l.mapArena(h.arena, rest[0])
	}
	if err := l.probe(h); err != nil {
		l.direct.Store(&ending{err})
	}
	if err := p.keep(l); err != nil {
		l.release()
		return nil, err
	}
	return l, nil
}

// probe reads the peer's nonce, which proves that its memory can be read.
func (l *link) probe(h hello) error {
	if l.port.opt.NoSingleCopy {
		return errSwitchedOff
	}
	return cma.Probe(l.pid, h.nonceAt, h.nonce)
}

// unreadable says why the peer's memory can't be read, or nil.
func (l *link) unreadable() error {
	if e := l.direct.Load(); e != nil {
		return e.reason
	}
	return nil
}

func (l *link) openRings(dialled bool) (err error) {
	l.exported.table, l.theirs = generationsOf(l.pair.Bytes(), dialled), generationsOf(l.pair.Bytes(), !dialled)
	if _, ok := l.theirs.at(0); !ok {
		return fmt.Errorf("%w: the pair's segment is not aligned", transport.ErrCorrupt)
	}
	if l.out, err = ring.NewWriter(ringOut(l.pair.Bytes(), dialled)); err != nil {
		return err
	}
	l.in, err = ring.NewReader(ringIn(l.pair.Bytes(), dialled))
	return err
}

// Caps returns what shared memory can do.
func (l *link) Caps() *wire.Caps { return l.caps }

// Peer returns who the other side is.
func (l *link) Peer() (transport.Address, uint32) { return l.address, l.session }

// Send puts a frame into the ring and rings if the peer sleeps.
func (l *link) Send(h *wire.Header, v *wire.Vec, off int) bool {
	if l.out == nil || !l.out.Send(h, v, off) {
		return false
	}
	l.bell.Ring()
	return true
}

// Bind lets the link's frames be polled.
func (l *link) Bind(peer int32) {
	first := l.peer < 0
	if l.peer = peer; first && l.out != nil {
		l.port.links = append(l.port.links, l)
	}
}

// Close gives everything back. The peer still reads what lies in its ring, and
// then sees the socket's end.
func (l *link) Close() {
	if l.out == nil {
		return
	}
	l.exported.endAll()
	l.awaitReader(func(uint64) bool { return true })
	l.port.remove(l)
	l.port.drop(l)
	l.release()
}

func (l *link) release() {
	_ = l.conn.Close()
	l.out, l.in = nil, nil
	if l.bell != nil {
		l.bell.Close()
	}
	_ = l.pair.Close()
	l.released.Store(true)
	l.unmapArena()
}

// Reclaim does nothing: the link copies what it is given.
func (l *link) Reclaim() {}

// Credentials returns who is at the other end, as the kernel has it.
func (l *link) Credentials() transport.Credentials {
	return transport.Credentials{PID: l.pid, UID: os.Geteuid()} // sameUser has seen to that
}
