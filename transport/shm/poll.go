//go:build linux

package shm

import (
	"gomx/transport"
	"gomx/transport/wire"
)

const (
	leastBusy  = 8    // links that are looked at in every Poll, however quiet they are
	quietTurns = 8    // others in every so many
	busyTurns  = 1024 // Polls after which half of the busy ones have to prove it again
	linkBudget = 32   // frames of one link in one Poll
)

// Poll delivers what lies in the rings. With many peers the busy ones are looked at each time, the others now and then; a
// link that speaks becomes busy.
func (p *port) Poll(h transport.Handler) int {
	n := 0
	p.stopped = false
	if p.copied != 0 {
		n = p.copyOn(h)
	}
	all := len(p.links)
	some := all
	if all > leastBusy {
		if p.turn++; p.turn%quietTurns == 0 {
			return n + p.pollAll(h)
		}
		some = min(all, leastBusy+p.busy)
	}
	for i := 0; i < some; i++ {
		l := p.links[i]
		if first, there := l.in.Look(); there {
			n += l.read(first, h)
			l.expectAnswer()
		} else {
			l.idle()
		}
		if len(p.links) < all || p.stopped {
			break // a link has ended, and the list is another one now; or nothing more is wanted
		}
	}
	return n
}

func (p *port) pollAll(h transport.Handler) int {
	if p.turn%busyTurns == 0 {
		p.busy /= 2
	}
	n := 0
	for i := 0; i < len(p.links) && !p.stopped; i++ {
		l := p.links[i]
		first, there := l.in.Look()
		if !there {
			if l.idle() {
				i--
			}
			continue
		}
		n += l.read(first, h)
		if j := leastBusy + p.busy; i >= j && i < len(p.links) && p.links[i] == l {
			p.links[i], p.links[j] = p.links[j], l
			p.busy++
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

// read delivers frames of one link, the first of which begins with word0. If that has just come, it often comes alone, and somebody
// waits for it. The line of the next one is still in the writer's cache then, and to look at it would take longer than all that is left
// to do for the first, so it waits for the next poll.
func (l *link) read(word0 uint64, h transport.Handler) int {
	p := l.port
	var there bool
	alone := l.rested
	l.rested = false
	for n := 0; ; {
		head, payload, ok := l.in.Read(word0)
		if !ok {
			l.corrupt()
			return n
		}
		if head == nil {
			return n // a filler alone
		}
		p.delivers = true
		more := h.Frame(l.peer, head, payload)
		p.delivers = false
		if !more {
			p.stopped = true
		}
		if l.in == nil {
			return n + 1 // the frame has closed the link
		}
		if head.Kind == wire.PullData {
			l.arrived(head)
		}
		if l.in.Take() {
			l.publish()
		}
		if n++; !more || n == linkBudget {
			return n
		}
		if alone && l.in.AtLine() {
			return n
		}
		if word0, there = l.in.Look(); !there {
			return n // idle publishes; now somebody waits for what came
		}
	}
}

// idle does what there is time for when a ring is empty, and reports whether the
// link has ended.
func (l *link) idle() bool {
	l.rested = true
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

// Quiet reports whether no pull is under way, no ring has a frame that could be taken,
// and no link has an end to tell of.
func (p *port) Quiet() bool {
	if len(p.pulls) > 0 {
		return false
	}
	for _, l := range p.links {
		if l.in.Behind() {
			l.publish() // nobody would do it while we sleep
		}
		if l.ended.Load() != nil || l.in.Ready() {
			return false
		}
	}
	return true
}
