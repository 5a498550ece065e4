//go:build linux

package tcp

import "gomx/transport/wire"

// The size of a link's own buffer follows the bytes that have come, so that a peer gets little
// memory for a header alone. It is at most the frame, and at most the larger one of these.
const (
	ownLeast  = readAtOnce
	ownFactor = 4 // times the bytes that have come
)

// readSpace returns the buffer for the next read. It lies behind the unparsed bytes, which are
// moved if necessary.
func (l *link) readSpace() []byte {
	p := l.port
	need := l.need()
	if need > len(p.in) && l.own == nil {
		l.spill() // a large PullData frame without a place
	}
	if l.own != nil && (need > len(p.in) || len(l.unparsed) > smallUnparsed) {
		return l.spaceInOwn(need)
	}
	if p.reader != l {
		p.lend(l)
	}
	from := 0
	if l.own != nil {
		copy(p.in, l.unparsed)
		l.unparsed = p.in[:len(l.unparsed)]
		l.freeOwn()
	} else if len(l.unparsed) > 0 {
		if from = cap(p.in) - cap(l.unparsed); from+max(need, len(l.unparsed)+readHeads) > len(p.in) {
			copy(p.in, l.unparsed)
			from = 0
		}
	}
	l.unparsed = p.in[from : from+len(l.unparsed)]
	at := from + len(l.unparsed)
	size := max(readAtOnce, need-len(l.unparsed))
	if l.lean && len(l.unparsed) < wire.MaxHeader {
		size = readHeads
	}
	return p.in[at:min(at+size, len(p.in))]
}

// spaceInOwn returns space for the frame at the front of own, or for a part of it, and no
// more, so that own is empty when that frame has been delivered.
func (l *link) spaceInOwn(need int) []byte {
	need = max(need, len(l.unparsed)+1)
	from := cap(l.own) - cap(l.unparsed)
	if full := len(l.unparsed) == len(l.own); from+need > len(l.own) && (full || from > 0) {
		old := l.own
		if from = 0; full {
			l.own = l.port.pool.get(l.ownSize(need))
		}
		l.unparsed = l.own[:copy(l.own, l.unparsed)]
		if len(old) != len(l.own) {
			l.port.pool.put(old)
		}
	}
	return l.own[from+len(l.unparsed) : min(from+need, len(l.own))]
}

// ownSize returns the size of a buffer for the unparsed bytes, and for more of their first
// frame, which has need bytes.
func (l *link) ownSize(need int) int {
	return max(min(need, max(ownLeast, ownFactor*len(l.unparsed))), len(l.unparsed))
}

// need returns the size of the first unparsed frame, or of its header if the header is not
// complete.
func (l *link) need() int {
	if len(l.unparsed) < wire.BaseSize {
		return wire.BaseSize
	}
	var h wire.Header
	size, _ := l.parse(&h)
	if len(l.unparsed) < size {
		return size
	}
	return size + int(h.Length)
}

// lend gives the port's buffer to l. The bytes of another link in it are copied to a buffer
// of that link's own.
func (p *port) lend(l *link) {
	if r := p.reader; r != nil && r.own == nil && len(r.unparsed) > 0 {
		r.spill()
	}
	p.reader = l
}

func (l *link) spill() {
	l.own = l.port.pool.get(l.ownSize(l.need()))
	l.unparsed = l.own[:copy(l.own, l.unparsed)]
}

func (l *link) freeOwn() {
	if l.own != nil {
		l.port.pool.put(l.own)
		l.own = nil
	}
}
