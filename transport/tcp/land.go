//go:build linux

package tcp

import (
	"gomx/transport"
	"gomx/transport/tcp/internal/sock"
	"gomx/transport/wire"
)

// landing is a PullData frame whose payload is being read into its place.
type landing struct {
	head wire.Header
	left int  // bytes that are still to come; 0: there is no such frame
	lost bool // its place was taken away; the rest is thrown away
}

// beginLanding puts what has come of a payload in place, if it has one.
func (l *link) beginLanding(h transport.Handler, head *wire.Header, size int) {
	if l.tls != nil {
		return // it doesn't come out of the socket as it is
	}
	v := h.Land(l.peer, head)
	if v == nil || !reaches(v, head) {
		return
	}
	here := l.unparsed[size:]
	v.Scatter(int(head.Offset), here)
	l.landing = landing{head: *head, left: int(head.Length) - len(here)}
	l.unparsed = nil
	l.lean = true
	l.freeOwn()
}

// reaches reports whether the payload of a frame has room in v.
func reaches(v *wire.Vec, h *wire.Header) bool {
	return v.Len() >= int(h.Offset)+int(h.Length)
}

// land reads once, straight into place, and what comes behind the payload into
// the port's buffer.
func (l *link) land(h transport.Handler) (got, asked int) {
	p, g := l.port, &l.landing
	var v *wire.Vec
	if !g.lost {
		v = h.Land(l.peer, &g.head)
		g.lost = v == nil || !reaches(v, &g.head)
	}
	if p.reader != l {
		p.lend(l)
	}
	wanted := 0
	if g.lost {
		p.batch.Add(p.in[:min(g.left, len(p.in))])
	} else {
		at := int(g.head.Offset) + int(g.head.Length) - g.left
		if wanted = addSegments(&p.batch, v, at, g.left); wanted == g.left {
			p.batch.Add(p.in[:readHeads])
		}
	}
	asked = p.batch.Len()
	var errno sock.Errno
	if got, errno = p.batch.Recv(l.fd); got == 0 {
		l.nothing(errno)
		return 0, asked
	}
	more := max(0, got-g.left)
	l.unparsed = p.in[:more]
	if g.left -= got - more; g.left == 0 && !g.lost {
		h.Landed(l.peer, &g.head)
	}
	return got, asked
}
