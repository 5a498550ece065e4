//go:build linux

package tcp

import "gomx/transport/wire"

// room returns where to read to: behind rest, and so much that the frame in rest
// can be completed. rest is moved there if need be.
func (l *link) room() []byte {
	p := l.port
	need := l.need()
	if l.own != nil && len(l.rest) > smallRest {
		return l.roomInOwn(need)
	}
	if p.reader != l {
		p.lend(l)
	}
	from := 0
	if l.own != nil {
		copy(p.in, l.rest)
		l.rest = p.in[:len(l.rest)]
		l.freeOwn()
	} else if len(l.rest) > 0 {
		if from = cap(p.in) - cap(l.rest); from+max(need, len(l.rest)+readHeads) > len(p.in) {
			copy(p.in, l.rest)
			from = 0
		}
	}
	l.rest = p.in[from : from+len(l.rest)]
	at := from + len(l.rest)
	size := max(readAtOnce, need-len(l.rest))
	if l.lean && len(l.rest) < wire.MaxHeader {
		size = readHeads
	}
	return p.in[at:min(at+size, len(p.in))]
}

// roomInOwn returns room for the frame at the front of own, and no more, so that
// own is empty afterwards.
func (l *link) roomInOwn(need int) []byte {
	need = max(need, len(l.rest)+1)
	if from := cap(l.own) - cap(l.rest); from+need > len(l.own) {
		old := l.own
		if need > len(old) {
			l.own = l.port.pool.get(need)
		}
		l.rest = l.own[:copy(l.own, l.rest)]
		if len(old) != len(l.own) {
			l.port.pool.put(old)
		}
	}
	from := cap(l.own) - cap(l.rest)
	return l.own[from+len(l.rest) : from+need]
}

// need returns how many bytes the frame in rest has, or its header if that is not
// complete.
func (l *link) need() int {
	if len(l.rest) < wire.BaseSize {
		return wire.BaseSize
	}
	var h wire.Header
	size, _ := parse(&h, l.rest)
	return size + int(h.Length)
}

// lend gives the port's buffer to l. What is in it goes to a buffer of the link
// that it belongs to.
func (p *port) lend(l *link) {
	if r := p.reader; r != nil && r.own == nil && len(r.rest) > 0 {
		r.spill()
	}
	p.reader = l
}

func (l *link) spill() {
	l.own = l.port.pool.get(max(l.need(), len(l.rest)))
	l.rest = l.own[:copy(l.own, l.rest)]
}

func (l *link) freeOwn() {
	if l.own != nil {
		l.port.pool.put(l.own)
		l.own = nil
	}
}
