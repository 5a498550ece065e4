//go:build linux

package shm

import (
	"gomx/transport"
	"gomx/transport/wire"
)

const (
	busyLinks  = 8  // looked at in every Poll
	quietTurns = 8  // others in every so many
	linkBudget = 32 // frames of one link in one Poll
)

// Poll delivers what lies in the rings. With many peers the busy ones are looked
// at each time, the others now and then; a link that speaks becomes busy.
func (p *port) Poll(h transport.Handler) int {
	n := 0
	all := len(p.links)
	busy := all
	if busy > busyLinks {
		if p.turn++; p.turn%quietTurns == 0 {
			return p.pollAll(h)
		}
		busy = busyLinks
	}
	for i := 0; i < busy; i++ {
		if l := p.links[i]; l.in.Ready() {
			n += l.read(h)
			l.expectAnswer()
		} else {
			l.idle()
		}
		if len(p.links) < all {
			break // a link has ended, and the list is another one now
		}
	}
	return n
}

func (p *port) pollAll(h transport.Handler) int {
	n := 0
	for i := 0; i < len(p.links); i++ {
		l := p.links[i]
		if !l.in.Ready() {
			if l.idle() {
				i--
			}
			continue
		}
		n += l.read(h)
		if i >= busyLinks && i < len(p.links) && p.links[i] == l {
			j := i % busyLinks
			p.links[i], p.links[j] = p.links[j], l
		}
	}
	return n
}

// expectAnswer prepares for what often follows when frames were delivered: that the
// program sends one like them back. It must come just before: the peer, who polls,
// fetches the line again. Before the delivery would be too early, and so it is for a
// frame that takes longer to write.
func (l *link) expectAnswer() {
	if l.out != nil && l.in.Compact() {
		l.out.Expect()
	}
}

// read delivers frames of one link.
func (l *link) read(h transport.Handler) int {
	for n := range linkBudget {
		head, payload, ok := l.in.Read()
		if !ok {
			l.corrupt()
			return n
		}
		if head == nil {
			return n // idle publishes; now somebody waits for what came
		}
		if !h.Frame(l.peer, head, payload) {
			l.hold()
			return n
		}
		if l.in == nil {
			return n + 1 // the frame has closed the link
		}
		l.held = false
		if head.Kind == wire.PullData {
			l.arrived(head)
		}
		if l.in.Take() {
			l.publish()
		}
	}
	return linkBudget
}

// hold keeps the frame that the handler could not take.
func (l *link) hold() {
	l.held = true
	l.publish()
	if !l.ending && l.ended.Load() != nil {
		l.ending = true
		l.port.events.Ending(l)
	}
}

// idle does what there is time for when a ring is empty, and reports whether the
// link has ended.
func (l *link) idle() bool {
	if l.in.Behind() {
		l.publish()
	}
	if l.ended.Load() == nil {
		return false
	}
	if l.in.Ready() {
		return false // it came before the end
	}
	l.finish()
	return true
}

// publish tells the writer about free room, and wakes it if it waits for that.
func (l *link) publish() {
	if l.in.Publish() {
		l.bell.Ring()
	}
}

// Quiet reports whether no ring has a frame that could be taken, and no link has
// an end to tell of. Links whose last frames the handler refuses have told it.
func (p *port) Quiet() bool {
	for _, l := range p.links {
		if l.in.Behind() {
			l.publish() // nobody would do it while we sleep
		}
		ended := l.ended.Load() != nil
		if ended && !l.ending || !l.held && (ended || l.in.Ready()) {
			return false
		}
	}
	return true
}
