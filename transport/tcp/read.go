//go:build linux

package tcp

import (
	"encoding/binary"
	"fmt"

	"gomx/transport"
	"gomx/transport/tcp/internal/sock"
	"gomx/transport/wire"
)

const (
	inSize        = MaxFrame + readAtOnce
	readAtOnce    = 128 << 10 // bytes asked of a socket in one call
	readHeads     = 1 << 10   // the same where PullData is expected
	smallUnparsed = 4 << 10   // so many unparsed bytes, and fewer, are completed in the port's buffer
	linkBudget    = 64        // frames of one link in one Poll
	readsInTurn   = 8         // system calls for one link in one Poll
)

// read delivers frames of one link, those first that were read before.
func (l *link) read(h transport.Handler) int {
	if l.ended != nil {
		l.finish()
		return 0
	}
	n := 0
	if len(l.unparsed) > 0 {
		if n = l.deliver(h, n); !l.readsOn(n) {
			return n
		}
	}
	for range readsInTurn {
		got, asked := 0, 0
		if l.landing.left > 0 {
			if got, asked = l.land(h); got > 0 {
				n++
			}
		} else {
			got, asked = l.fill()
		}
		if l.ended != nil {
			l.finish()
			return n
		}
		if n = l.deliver(h, n); !l.readsOn(n) {
			return n
		}
		if got < asked && !l.hungUp {
			l.ready = false
			return n
		}
		l.lean = l.lean && l.landing.left > 0
	}
	l.markReady()
	return n
}

// readsOn reports whether a link of which n frames were delivered can be read on
// in this poll. Otherwise the next poll looks at it again.
func (l *link) readsOn(n int) bool {
	if l.key < 0 {
		return false
	}
	if l.port.stopped || n >= linkBudget {
		l.markReady()
		return false
	}
	return true
}

// fill reads once, behind the unparsed bytes. If it returns 0, the connection has ended, as
// l.ended says, or nothing has arrived.
func (l *link) fill() (got, asked int) {
	room := l.readSpace()
	if l.tls != nil {
		got, asked = l.fillSecure(room)
	} else {
		var errno sock.Errno
		if got, errno = sock.Recv(l.fd, room); got == 0 {
			l.nothing(errno)
		}
		asked = len(room)
	}
	l.unparsed = l.unparsed[:len(l.unparsed)+got]
	return got, asked
}

// fillSecure reads a record, or what is left of one. There may be more however short it is: only
// a read of nothing says that there is not.
func (l *link) fillSecure(room []byte) (got, asked int) {
	if got, l.ended = l.tls.recv(room); got == 0 {
		return 0, len(room)
	}
	return got, got
}

// nothing notes why a call has read nothing.
func (l *link) nothing(errno sock.Errno) {
	switch {
	case errno == sock.Again:
		l.hungUp = false
	case l.broken != nil:
		l.ended = l.broken
	case errno != 0:
		l.ended = lost("recv", errno)
	default:
		l.ended = fmt.Errorf("%w: it closed the connection", transport.ErrPeerDied)
	}
}

// deliver delivers the complete frames among the unparsed bytes, and returns n plus their number.
func (l *link) deliver(h transport.Handler, n int) int {
	head := &l.port.head
	for n < linkBudget && len(l.unparsed) >= wire.BaseSize {
		size, err := l.parse(head)
		if err != nil {
			l.corrupt(err)
			return n
		}
		total := size + int(head.Length)
		if len(l.unparsed) < total {
			if head.Kind == wire.PullData && len(l.unparsed) >= size {
				l.beginLanding(h, head, size)
			}
			break
		}
		more := h.Frame(l.peer, head, l.unparsed[size:total:total])
		l.port.stopped = !more
		n++
		if l.fd < 0 {
			return n // the frame has closed the link
		}
		if l.unparsed = l.unparsed[total:]; !more {
			break
		}
	}
	if len(l.unparsed) == 0 {
		l.freeOwn()
	}
	return n
}

// parse decodes the header at the front of the unparsed bytes, as far as it is there, and
// returns its size.
func (l *link) parse(h *wire.Header) (size int, err error) {
	b := l.unparsed
	w := binary.LittleEndian.Uint64(b)
	if !h.SetWord0(w) || uint16(w>>16) != 0 {
		return 0, fmt.Errorf("%w: kind %d, flags %#x", wire.ErrMalformed, uint8(w), uint8(w>>8))
	}
	if h.Length > uint32(l.maxLength(h.Kind)) {
		return 0, fmt.Errorf("%w: %v frame of %d bytes", wire.ErrMalformed, h.Kind, h.Length)
	}
	if size = h.Size(); len(b) >= size {
		h.Match = binary.LittleEndian.Uint64(b[8:])
		h.SetWord2(binary.LittleEndian.Uint64(b[16:]))
		h.ParseExtensions(b[wire.BaseSize:])
	}
	return size, nil
}

// maxLength returns the largest payload of a frame of this kind.
func (l *link) maxLength(kind wire.Kind) int {
	if kind == wire.PullData {
		return l.port.caps.LargestPullFrame()
	}
	return MaxFrame
}
