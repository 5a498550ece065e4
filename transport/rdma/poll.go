//go:build linux && cgo

package rdma

import (
	"encoding/binary"
	"fmt"
	"time"

	"gomx/transport"
	"gomx/transport/internal/epoll"
	"gomx/transport/rdma/internal/verbs"
	"gomx/transport/wire"
)

const (
	hotPolls   = 1000 // after so many calls in which nothing came
	coldPolls  = 16   // the queue is looked at in every so many only
	endPolls   = 4096 // and connections in every so many
	pollBudget = 128  // messages in one Poll, about

	eagerPolls = 64 // up to so many calls in which nothing came, an answer is likely
	eagerTries = 32 // and the queue is looked at so many times in each
)

// Poll posts what is collected, and takes what has been completed.
func (p *port) Poll(h transport.Handler) int {
	if len(p.table) == 0 && !p.news.Load() {
		return 0
	}
	p.turn++
	p.stopped = false
	p.post()
	p.takeNews()
	if p.expired.Load() {
		p.lookForStalls()
	}
	if p.idle > hotPolls && p.turn%coldPolls != 0 {
		return 0
	}
	n := 0
	if len(p.waiting) > 0 {
		n = p.retry(h)
	}
	if !p.stopped {
		n += p.look(h)
	}
	if len(p.returning) > 0 {
		p.returnCredits()
	}
	if len(p.failing) > 0 && p.taken == len(p.done) {
		p.finishFailing()
	}
	if len(p.leaving) > 0 {
		p.reap(false)
	}
	if p.turn%endPolls == 0 {
		p.lookForEnds()
	}
	if n > 0 {
		p.idle = 0
	} else {
		p.idle++
	}
	return n
}

func (p *port) look(h transport.Handler) int {
	n := 0
	for n < pollBudget && !p.stopped {
		got := 0
		if p.taken == len(p.done) {
			if got = p.fetch(p.tries()); got == 0 {
				break
			}
		}
		for p.taken < len(p.done) && !p.stopped {
			c := p.done[p.taken]
			p.taken++
			n += p.complete(&c, h)
		}
		if got > 0 && got < batch {
			break
		}
	}
	return n
}

// tries says how often one Poll looks at the queue. While messages go to and fro it is
// worth the time, of which other media of the endpoint have less then.
func (p *port) tries() int {
	if p.idle < eagerPolls {
		return eagerTries
	}
	return 1
}

// PollsInC says so: package transport has why that matters.
func (p *port) PollsInC() {}

// fetch takes completions out of the queue and returns how many there were. It looks
// so many times.
func (p *port) fetch(tries int) int {
	if p.taken == len(p.done) {
		p.done, p.taken = p.done[:0], 0
	}
	done, err := p.queue.Look(tries)
	if err != nil {
		p.fail(err)
	}
	p.done = append(p.done, done...)
	return len(done)
}

// complete does what follows from a completion, and returns how many frames were
// delivered or pulls ended.
func (p *port) complete(c *verbs.Completion, h transport.Handler) int {
	if c.ID&receiveBit != 0 {
		return p.arrived(c, h)
	}
	l := p.find(c.QP)
	if l == nil {
		return 0
	}
	l.sent(c)
	n := 0
	for ; len(p.finished) > 0; n++ {
		f := p.finished[0]
		p.finished = p.finished[:copy(p.finished, p.finished[1:])]
		h.PullFinished(f.id, f.ok)
	}
	return n
}

// sent takes the completion of a request of ours.
func (l *link) sent(c *verbs.Completion) {
	n := uint32(c.ID)
	if c.Status == verbs.Success {
		l.completed(n)
		l.read()
		return
	}
	if n != l.work.head {
		l.completed(n - 1)
	}
	l.port.markFailing(l, fmt.Errorf("%w: queue pair %d: %w", transport.ErrPeerDied, l.number, c.Status))
}

// arrived takes a message of a peer, and returns how many frames were delivered.
func (p *port) arrived(c *verbs.Completion, h transport.Handler) int {
	s := slot(c.ID)
	l := p.find(c.QP)
	if l == nil || l.closed || l.dead || c.Status != verbs.Success {
		p.recycle(s)
		return 0
	}
	b := p.in.bytes(s)[:c.Bytes]
	switch {
	case len(b) == creditsSize:
		l.credits += int(binary.LittleEndian.Uint16(b))
		p.recycle(s)
		return 0
	case len(b) < wire.BaseSize:
		p.recycle(s)
		l.corrupt(fmt.Errorf("%w: a message of %d bytes", wire.ErrMalformed, len(b)))
		return 0
	}
	l.credits += int(binary.LittleEndian.Uint16(b[creditsAt:]))
	binary.LittleEndian.PutUint16(b[creditsAt:], 0)
	m := message{s, c.Bytes}
	if l.peer < 0 || len(l.held) > 0 {
		l.held = append(l.held, m)
		return 0
	}
	l.deliver(m, h)
	return 1
}

// message is a received message, which lies in a slot.
type message struct {
	slot slot
	size uint32
}

// deliver hands a frame over, and gives its slot back.
func (l *link) deliver(m message, h transport.Handler) {
	p := l.port
	b := p.in.bytes(m.slot)[:m.size]
	head := &p.head
	if err := parse(head, b); err != nil {
		p.recycle(m.slot)
		l.corrupt(err)
		return
	}
	p.stopped = !h.Frame(l.peer, head, b[head.Size():])
	p.recycle(m.slot)
	if !l.closed {
		l.countCredit()
	}
}

// parse decodes the header of a frame that is all of b.
func parse(h *wire.Header, b []byte) error {
	if !h.SetWord0(binary.LittleEndian.Uint64(b)) || len(b) < h.Size() || len(b)-h.Size() != int(h.Length) {
		return fmt.Errorf("%w: kind %d, flags %#x, %d bytes of payload in a message of %d",
			wire.ErrMalformed, h.Kind, h.Flags, h.Length, len(b))
	}
	h.Match = binary.LittleEndian.Uint64(b[8:])
	h.SetWord2(binary.LittleEndian.Uint64(b[16:]))
	h.ParseExtensions(b[wire.BaseSize:])
	return nil
}

// wait has the next polls offer what l holds.
func (l *link) wait() {
	if !l.listed {
		l.listed = true
		l.port.waiting = append(l.port.waiting, l)
	}
}

// retry offers frames that came before Bind, or in a poll that was to deliver no more.
func (p *port) retry(h transport.Handler) int {
	n, list := 0, p.waiting
	p.waiting = p.waited
	for _, l := range list {
		l.listed = false
		n += l.offer(h)
	}
	clear(list)
	p.waited = list[:0]
	return n
}

// offer hands over what l holds, while more is wanted, and returns how many that were.
// The handler may close the link, which throws away what is in l.held.
func (l *link) offer(h transport.Handler) (n int) {
	list := l.held
	l.held = nil
	for n < len(list) && !l.closed && !l.dead && !l.port.stopped {
		l.deliver(list[n], h)
		n++
	}
	l.held = list[:copy(list, list[n:])]
	if l.closed || l.dead {
		l.dropHeld()
		return n
	}
	if len(l.held) > 0 {
		l.wait()
	}
	return n
}

// finishFailing reports the ends of links of which nothing is left to be delivered.
func (p *port) finishFailing() {
	left := p.failing[:0]
	for _, l := range p.failing {
		if !l.finish() {
			left = append(left, l)
		}
	}
	clear(p.failing[len(left):])
	p.failing = left
}

// lookForEnds takes the news of connections and of the queue.
func (p *port) lookForEnds() {
	for n := epoll.Most; n == epoll.Most; {
		n = p.watched.Take()
		for i := range n {
			e := p.watched.Event(i)
			switch e.Key {
			case queueKey:
				p.queue.Drain()
				p.armed = false
			case eventKey:
				p.takeEvents()
			default:
				if l := p.find(uint32(e.Key)); l != nil && e.Ended {
					l.hungUp = true
					p.markFailing(l, nil)
				}
			}
		}
	}
}

// takeEvents takes what has happened to the device. Only its end is that of links: what
// happens to ports shows in what happens to packets.
func (p *port) takeEvents() {
	for {
		e, number, ok, err := p.device.NextEvent()
		if err != nil || !ok {
			return
		}
		what := e.String()
		if number > 0 {
			what = fmt.Sprintf("%v of port %d", e, number)
		}
		p.event.Store(&what)
		if e == verbs.DeviceFailed {
			p.fail(fmt.Errorf("%w: %s: %v", transport.ErrUnsupported, p.at.port.Device, e))
		}
	}
}

// Quiet reports whether nothing is there that could be taken. From then on the next
// completion makes a watched descriptor readable.
func (p *port) Quiet() bool {
	if len(p.table) == 0 && !p.news.Load() {
		return true
	}
	p.post()
	p.takeNews()
	p.lookForEnds()
	if !p.armed {
		p.armed = true
		if err := p.queue.Arm(); err != nil {
			p.fail(err)
		}
	}
	p.fetch(1)
	quiet := p.taken == len(p.done) && !p.expired.Load() && len(p.failing) == 0 && len(p.waiting) == 0
	if !quiet {
		p.idle = 0 // the next Poll looks
	}
	return quiet
}

// reap frees closed links once their requests are complete, or at once if late.
func (p *port) reap(late bool) {
	left := p.leaving[:0]
	for _, l := range p.leaving {
		if late || l.work.len() == 0 || l.broken != nil || time.Since(l.leftAt) > closeBound {
			l.stop()
		} else {
			left = append(left, l)
		}
	}
	clear(p.leaving[len(left):])
	p.leaving = left
}
