//go:build linux && cgo

package rdma

import (
	"gomx/transport/rdma/internal/verbs"
)

// A queue pair has room for so many requests. Of each some way is kept for reads
// and for credits, so that these never wait for frames.
const (
	workDepth   = 128 // a power of two
	frameDepth  = 96
	readsAtOnce = 24
	signalEvery = 16 // requests, at least one of which makes a completion
)

// work is what a queue pair has been asked to do and has not finished, in order. A
// completion speaks for all requests before it.
type work struct {
	items      [workDepth]item
	head       uint32 // number of the first that is not finished
	tail       uint32 // number of the next
	unsignaled int    // posted since the last that makes a completion
	seen       uint32 // head, when the watchdog came last
	stalled    int    // how often in a row it has found it the same
	reads      int
}

// item is a request.
type item struct {
	kind  itemKind
	marks bool // it makes a completion
	slot  uint32
	pull  *pull
}

type itemKind uint8

const (
	inlineItem itemKind = iota // nothing is to be done at its end
	slotItem                   // a slot of port.out comes free
	readItem                   // a part of a pull
	lastItem                   // the end of a pull
)

func (w *work) len() int { return int(w.tail - w.head) }

// add notes a request and returns its number.
func (w *work) add(i item) uint32 {
	n := w.tail
	w.items[n%workDepth] = i
	w.tail++
	w.unsignaled++
	if i.marks {
		w.unsignaled = 0
	}
	if i.kind >= readItem {
		w.reads++
	}
	return n
}

// signal decides whether the next request makes a completion, and adds the flag for it.
func (l *link) signal(i *item, f verbs.Flags) verbs.Flags {
	p := l.port
	i.marks = i.kind == lastItem || l.work.unsignaled+1 >= signalEvery ||
		i.kind == slotItem && p.out.Free() < p.out.Count()/2 // somebody may wait for slots
	if i.marks {
		f |= verbs.Signaled
		p.signals++
	}
	return f
}

// completed takes the completion of request number n: all up to that one are
// finished.
func (l *link) completed(n uint32) {
	w := &l.work
	if n-w.head >= uint32(w.len()) {
		return // it has been given up
	}
	for w.head != n+1 {
		i := &w.items[w.head%workDepth]
		w.head++
		if i.marks {
			l.port.signals--
		}
		switch i.kind {
		case slotItem:
			l.port.out.Give(i.slot)
		case readItem:
			w.reads--
		case lastItem:
			w.reads--
			l.pulled(i.pull)
		}
		i.pull = nil
	}
}

// abandon forgets all requests: the queue pair does nothing any more.
func (l *link) abandon() {
	w := &l.work
	for ; w.head != w.tail; w.head++ {
		i := &w.items[w.head%workDepth]
		if i.marks {
			l.port.signals--
		}
		if i.kind == slotItem {
			l.port.out.Give(i.slot)
		}
		i.pull = nil
	}
	w.reads, w.unsignaled = 0, 0
}

// begin makes l the one whose requests are collected.
func (p *port) begin(l *link) {
	if p.sender != l {
		p.post()
		p.sender = l
	}
}

// post posts what is collected.
func (p *port) post() {
	l := p.sender
	p.sender = nil
	if l == nil || p.sends.Len() == 0 {
		return
	}
	if l.qp == nil || l.broken != nil {
		p.sends.Reset() // its items are abandoned with the link
	} else if _, err := l.qp.Post(p.sends); err != nil {
		p.markFailing(l, err)
	}
	for _, s := range p.inlined {
		p.out.Give(s)
	}
	p.inlined = p.inlined[:0]
	p.startWatch()
}
