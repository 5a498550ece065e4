package mem

import (
	"time"

	"gomx/transport"
	"gomx/transport/wire"
)

type simKind uint8

const (
	simArrival    simKind = iota // a frame arrives
	simEnd                       // a side learns that its link has ended
	simSyn                       // a dial arrives
	simUp                        // a side learns of a new link
	simDialFailed                // a dial is answered with no
	simPoll                      // a port is polled
	simWritable                  // a link that said "again" has room
	simTimer                     // a timer of an owner
	simRead                      // the memory that is pulled is read
	simPulled                    // its bytes come to the side that pulls
)

// simEvent is something that is going to happen, or a frame that has arrived and
// waits to be taken.
type simEvent struct {
	kind     simKind
	dialled  bool
	cut      bool
	class    uint8
	port     *SimPort
	link     *SimLink // the side that it happens to
	sender   *SimLink // of a frame
	from, to transport.Address
	err      error
	arg      uint64
	pull     *simPull

	head wire.Header
	data []byte
	lent []byte // the sender's memory, as long as the payload has not been copied
}

// simQueue is a heap of events by time and order of cause, four children to a
// parent.
type simQueue struct {
	items []simItem
	order uint64
}

type simItem struct {
	at    time.Duration
	order uint64
	event *simEvent
}

func (a *simItem) before(b *simItem) bool {
	return a.at < b.at || a.at == b.at && a.order < b.order
}

func (q *simQueue) push(at time.Duration, e *simEvent) {
	q.order++
	q.items = append(q.items, simItem{})
	item := simItem{at, q.order, e}
	i := len(q.items) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !item.before(&q.items[up]) {
			break
		}
		q.items[i] = q.items[up]
		i = up
	}
	q.items[i] = item
}

func (q *simQueue) pop() (time.Duration, *simEvent) {
	first := q.items[0]
	n := len(q.items) - 1
	item := q.items[n]
	q.items[n] = simItem{}
	q.items = q.items[:n]
	i := 0
	for {
		least := 4*i + 1
		if least >= n {
			break
		}
		for c := least + 1; c < min(4*i+5, n); c++ {
			if q.items[c].before(&q.items[least]) {
				least = c
			}
		}
		if !q.items[least].before(&item) {
			break
		}
		q.items[i] = q.items[least]
		i = least
	}
	if n > 0 {
		q.items[i] = item
	}
	return first.at, first.event
}

// simPool keeps events and the memory of payloads for later ones, by size, so that
// small frames don't hold on to large memory.
type simPool struct {
	free   [len(simSizes) + 1][]*simEvent
	frames int
}

var simSizes = [...]int{0, 128, 2 << 10, 16 << 10}

func (p *simPool) take(kind simKind, size int) *simEvent {
	class := 0
	for class < len(simSizes) && size > simSizes[class] {
		class++
	}
	list := &p.free[class]
	var e *simEvent
	if n := len(*list); n > 0 {
		e = (*list)[n-1]
		*list = (*list)[:n-1]
	} else {
		e = &simEvent{class: uint8(class)}
		if class > 0 && class < len(simSizes) {
			e.data = make([]byte, 0, simSizes[class])
		}
	}
	if cap(e.data) < size {
		e.data = make([]byte, size)
	}
	e.kind, e.data = kind, e.data[:size]
	if kind == simArrival {
		p.frames++
	}
	return e
}

func (p *simPool) give(e *simEvent) {
	if e.kind == simArrival {
		p.frames--
	}
	// Whoever kept a reference to a payload shall notice.
	for i := range e.data[:min(len(e.data), 64)] {
		e.data[i] = 0xdb
	}
	e.port, e.link, e.sender, e.err, e.lent = nil, nil, nil, nil, nil
	e.pull = nil
	e.dialled, e.cut = false, false
	p.free[e.class] = append(p.free[e.class], e)
}

// simFifo is a queue of frames that reuses its memory.
type simFifo struct {
	items []*simEvent
	first int
}

func (f *simFifo) len() int { return len(f.items) - f.first }

func (f *simFifo) push(e *simEvent) { f.items = append(f.items, e) }

func (f *simFifo) front() *simEvent { return f.items[f.first] }

func (f *simFifo) pop() {
	f.items[f.first] = nil
	if f.first++; f.first == len(f.items) {
		f.items, f.first = f.items[:0], 0
	} else if f.first >= 32 && 2*f.first >= len(f.items) {
		n := copy(f.items, f.items[f.first:])
		clear(f.items[n:])
		f.items, f.first = f.items[:n], 0
	}
}
