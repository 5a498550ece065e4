//go:build linux

package tcp

import (
	"gomx/transport"
	"gomx/transport/internal/epoll"
)

const (
	directLinks = 4    // up to so many are read in every Poll without asking epoll
	hotPolls    = 1000 // after so many calls without a frame
	coldPolls   = 32   // sockets are looked at in every so many only
	pollBudget  = 128  // frames of all links in one Poll, about
	hotReads    = 64   // a link that is read so often between two sleeps leaves epoll
)

// Poll sends the buffered output and delivers what has arrived. A piece of a large
// frame counts as one. While nothing comes, most calls do not look: the system call
// would cost more than all that other media do in a poll.
func (p *port) Poll(h transport.Handler) int {
	if len(p.links) == 0 {
		return 0
	}
	p.turn++
	p.stopped = false
	if len(p.unsent) > 0 {
		p.flushAll()
	}
	p.overdue = false
	if p.idle > hotPolls && p.turn%coldPolls != 0 {
		return 0
	}
	n := p.look(h)
	if n > 0 {
		p.idle = 0
	} else {
		p.idle++
	}
	return n
}

func (p *port) look(h transport.Handler) int {
	n := 0
	if len(p.links) > directLinks || len(p.unsent) > 0 {
		p.collect()
	}
	if len(p.links) > directLinks {
		return p.readReady(h)
	}
	for i := 0; i < len(p.links) && !p.stopped; i++ {
		l := p.links[i]
		k := l.read(h)
		if l.key < 0 {
			i--
		} else if k > 0 && l.watched {
			p.unwatch(l)
		}
		n += k
	}
	return n
}

// readReady reads the links of which epoll has told, taking turns if there is more
// than one Poll may deliver, and forgets those that are read empty.
func (p *port) readReady(h transport.Handler) int {
	n, count := 0, len(p.ready)
	for range count {
		p.first = (p.first + 1) % count
		if l := p.ready[p.first]; l.ready {
			n += l.read(h)
		}
		if n >= pollBudget || p.stopped {
			break
		}
	}
	p.forget()
	return n
}

func (p *port) forget() {
	left := p.ready[:0]
	for _, l := range p.ready {
		if l.listed = l.ready; l.ready {
			left = append(left, l)
		}
	}
	clear(p.ready[len(left):])
	p.ready = left
}

// watch has epoll look at a link, and tell what is there already.
func (p *port) watch(l *link) {
	l.hot = 0
	if l.watched {
		return
	}
	if err := p.epoll.Add(l.fd, l.key); err != nil {
		l.ended = err // the next poll reports it
		l.markReady()
	}
	l.watched = true
}

func (p *port) watchAll() {
	for _, l := range p.links {
		p.watch(l)
	}
}

// unwatch takes a link that is read all the time out of epoll, which else costs
// some tenths of a microsecond for each packet. Quiet puts it back.
func (p *port) unwatch(l *link) {
	if l.hot++; l.hot > hotReads && !l.full {
		p.epoll.Remove(l.fd)
		l.watched = false
	}
}

// collect asks epoll what has happened. It tells each thing once.
func (p *port) collect() {
	for n := epoll.Most; n == epoll.Most; {
		n = p.epoll.Take()
		for i := range n {
			e := p.epoll.Event(i)
			l := p.table[e.Key]
			if l == nil {
				continue
			}
			if e.Writable {
				l.full = false
			}
			if e.Ended {
				l.hungUp = true
			}
			if e.Readable {
				l.markReady()
			}
		}
	}
}

// Quiet reports whether there is neither input to read, nor buffered output
// that could be sent.
func (p *port) Quiet() bool {
	if len(p.links) == 0 {
		return true
	}
	if len(p.links) <= directLinks {
		p.watchAll()
	}
	p.collect()
	quiet := true
	for _, l := range p.unsent {
		quiet = quiet && l.full
	}
	p.forget()
	if quiet = quiet && len(p.ready) == 0; !quiet {
		p.idle = 0 // the next Poll looks
	}
	return quiet
}

// Overdue implements transport.Holder.
func (p *port) Overdue() { p.overdue = true }
