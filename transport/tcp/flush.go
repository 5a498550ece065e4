//go:build linux

package tcp

import (
	"time"

	"gomx/transport"
	"gomx/transport/tcp/internal/sock"
)

// write sends the bytes of a frame, and keeps in out what the socket doesn't take.
func (l *link) write(frame []byte) {
	n, errno := sock.Send(l.fd, frame)
	if n < len(frame) {
		l.short(errno)
		l.out = append(l.port.pool.grow(l.out, len(frame)-n), frame[n:]...)
		l.wait()
	}
}

// push sends the port's batch and notes when the socket has taken less.
func (l *link) push() int {
	b := &l.port.batch
	all := b.Len()
	n, errno := b.Send(l.fd)
	if n < all {
		l.short(errno)
	}
	return n
}

// short notes why the socket took less than it was given. It tells epoll when
// there is room again.
func (l *link) short(errno sock.Errno) {
	if errno != 0 && errno != sock.Again {
		l.broken = lost("send", errno)
		sock.HangUp(l.fd) // so that reading finds the end, behind what has come, and the peer, too
		return
	}
	l.full = true
	if l.key >= 0 {
		l.port.watch(l)
	}
}

// flush sends what waits, as far as the socket takes it, and reports whether all
// of it has left.
func (l *link) flush() bool {
	if l.tls != nil {
		return l.flushSecure()
	}
	p, r := l.port, &l.retained
	for !l.full && l.broken == nil && (l.sent < len(l.out) || r.left > 0) {
		p.batch.Add(l.out[l.sent:])
		addSegments(&p.batch, &r.vec, r.off, r.left)
		n := l.push()
		k := min(n, len(l.out)-l.sent)
		l.sent += k
		r.off, r.left = r.off+n-k, r.left-(n-k)
	}
	if l.broken != nil {
		l.sent, r.left = len(l.out), 0
	}
	if l.sent == len(l.out) {
		l.freeOut()
	}
	if r.left == 0 {
		*r = retained{}
	}
	return len(l.out) == 0 && r.left == 0
}

func (l *link) freeOut() {
	if cap(l.out) > 0 {
		l.port.pool.put(l.out)
	}
	l.out, l.sent = nil, 0
}

// flushAll sends the links' buffered output. Links whose socket is full wait until epoll
// reports it writable.
func (p *port) flushAll() {
	left := p.unsent[:0]
	for _, l := range p.unsent {
		if l.held > 0 && !l.full {
			l.alone.waited(l.late(), p.narrow)
		}
		if l.held = 0; l.full || !l.flush() {
			left = append(left, l)
		} else {
			l.waiting = false
		}
	}
	clear(p.unsent[len(left):])
	p.unsent = left
}

// late reports whether the present poll is late for the frames that have waited for it, and they would better have left one by one.
func (l *link) late() bool {
	p := l.port
	if !p.overdue && !p.narrow {
		return false // and the clock is not read
	}
	waited := time.Since(epoch) - l.led
	return waited > transport.SoonIs && waited > time.Duration(l.held)*fewFrames
}
