//go:build linux

package shm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"golang.org/x/sys/unix"

	"gomx/transport"
	"gomx/transport/internal/segment"
	"gomx/transport/shm/internal/cma"
)

// hello is the first message of each side on the socket.
//
//	0       8         12       20         24            32      48           56           64
//	+-------+---------+--------+----------+-------------+-------+------------+------------+
//	| magic | session |  nic   | endpoint | nonce addr  | nonce | arena base | arena size |
//	+-------+---------+--------+----------+-------------+-------+------------+------------+
//
// With it go the descriptors of the pair's segment (from the side that dials),
// of the doorbell's page, of a socket that leads to the doorbell, and of the arena if there is one.
type hello struct {
	session uint32
	self    transport.Address
	nonceAt uint64
	nonce   [16]byte
	arena   arenaRange
}

const (
	version   = 4 // 2: each peer gets a socket of its own to ring the doorbell with; 3: as many exports as messages may be outstanding; 4: frames of wire version 6
	magic     = "gomxshm" + string(rune(version))
	helloSize = 64
	maxFDs    = 4

	// Instead of a hello:
	noDescriptors = magic + "\x01" // from a side without free descriptors
	otherUser     = magic + "\x02" // from that of another user than the dialler's, whose number follows in 4 bytes
)

// errNoDescriptors is the error of a refusal. Descriptors may become free later.
var errNoDescriptors = fmt.Errorf("%w: its process is out of file descriptors (ulimit -n)", transport.ErrSlow)

// otherUserError is that the peer belongs to another user than this process, who has this number. It is a transport.ErrRefused.
type otherUserError uint32

func (uid otherUserError) Error() string {
	return fmt.Sprintf("%v: it belongs to user %d, this process to user %d: they share no memory, TCP or RDMA may connect them (MX_TRANSPORT)",
		transport.ErrRefused, uint32(uid), unix.Geteuid())
}

func (uid otherUserError) Unwrap() error { return transport.ErrRefused }

func (h *hello) append(b []byte) []byte {
	le := binary.LittleEndian
	b = append(b, magic...)
	b = le.AppendUint32(b, h.session)
	b = le.AppendUint64(b, h.self.NIC)
	b = le.AppendUint32(b, h.self.Endpoint)
	b = le.AppendUint64(b, h.nonceAt)
	b = append(b, h.nonce[:]...)
	return h.arena.append(b)
}

// parseRefusal returns what a refusal says, or nil if it is none.
func parseRefusal(b []byte) error {
	said, uid := string(b), []byte(nil)
	if len(b) == len(otherUser)+4 {
		said, uid = string(b[:len(otherUser)]), b[len(otherUser):]
	}
	switch {
	case said == noDescriptors:
		return errNoDescriptors
	case said == otherUser && uid != nil:
		return otherUserError(binary.LittleEndian.Uint32(uid))
	}
	return nil
}

func parseHello(b []byte) (h hello, err error) {
	if err := parseRefusal(b); err != nil {
		return h, err
	}
	if len(b) != helloSize || string(b[:8]) != magic {
		return h, fmt.Errorf("%w: the peer does not speak the gomx handshake of this version (%d bytes)", transport.ErrRefused, len(b))
	}
	le := binary.LittleEndian
	h.session = le.Uint32(b[8:])
	h.self = transport.Address{NIC: le.Uint64(b[12:]), Endpoint: le.Uint32(b[20:])}
	h.nonceAt = le.Uint64(b[24:])
	copy(h.nonce[:], b[32:48])
	h.arena = parseArenaRange(b[48:])
	return h, nil
}

// introduce sends our hello, with the pair's segment if we made it, and reports
// whether the arena was part of it.
func (p *port) introduce(c *net.UnixConn, pair *segment.Mem) (arena bool, err error) {
	h := hello{session: p.session, self: p.self}
	h.nonceAt, h.nonce = cma.Nonce()
	var fds []int
	if pair != nil {
		fds = append(fds, pair.FD())
	}
	page, bell, err := p.bell.Invite()
	if err != nil {
		return false, err
	}
	defer func() { _ = unix.Close(bell) }() // from then on it is the peer's alone
	fds = append(fds, page, bell)
	if at, fd, ok := ownArena(); ok && !p.opt.NoArena {
		h.arena = at
		fds = append(fds, fd)
		arena = true
	}
	return arena, segment.SendFDs(c, h.append(nil), fds...)
}

// listen receives a hello with want descriptors, and one more if it announces
// an arena.
func (p *port) listen(c *net.UnixConn, want int) (h hello, fds []int, err error) {
	var b [helloSize + 1]byte
	n, fds, err := segment.RecvFDs(c, b[:], maxFDs)
	if err != nil {
		return h, nil, err
	}
	h, err = parseHello(b[:n])
	if err == nil && h.arena.size != 0 {
		want++
	}
	if err == nil && len(fds) != want {
		err = fmt.Errorf("%w: %d descriptors, want %d", transport.ErrRefused, len(fds), want)
	}
	if err != nil {
		closeFDs(fds)
		return h, nil, err
	}
	return h, fds, nil
}

// turnAway tells a peer why we can't welcome it, if it should know: that we have no descriptors left; or whose we are, of which its own
// end of the connection says nothing if this process has become another user's since it began to listen.
func turnAway(c *net.UnixConn, why error) {
	if _, other := errors.AsType[otherUserError](why); other {
		_, _ = c.Write(binary.LittleEndian.AppendUint32([]byte(otherUser), uint32(unix.Geteuid())))
	} else if errors.Is(why, unix.EMFILE) || errors.Is(why, unix.ENFILE) {
		_, _ = c.Write([]byte(noDescriptors))
	}
}

// lastWord returns the refusal that the peer has said before it closed the connection, if the handshake broke off by that, or else
// why it broke off. The call that meets the close fails before the refusal is read.
func lastWord(c *net.UnixConn, why error) error {
	var b [helloSize]byte
	if brokenOff(why) {
		if n, _ := c.Read(b[:]); parseRefusal(b[:n]) != nil {
			return parseRefusal(b[:n])
		}
	}
	return why
}

// brokenOff reports whether the peer has closed the connection.
func brokenOff(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPIPE)
}

func closeFDs(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

// sameUser returns the peer's pid, and why it is not welcome.
func sameUser(c *net.UnixConn) (pid int, err error) {
	pid, uid, err := segment.PeerCred(c)
	if err != nil {
		return 0, err
	}
	if int(uid) != unix.Geteuid() {
		return pid, otherUserError(uid)
	}
	return pid, nil
}
