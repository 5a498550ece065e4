//go:build linux

package tcp

import (
	"fmt"
	"time"

	"gomx/transport/wire"
)

// The first frame after a poll leaves at once, and so does one after a pause. Those that follow
// wait in out for the next poll, or until there are enough of them: a program that sends many
// small messages in a row pays for few system calls. A program whose sends are complete at once
// polls seldom; it sends its messages one by one if there are pauses between them, and so it does for a while if a poll has
// come too late for those that waited.
const (
	pause = 3 * time.Microsecond // since the last one that has left at once; between two sends in a row there is less

	flushAt     = 32 << 10 // bytes in out that leave without waiting for a poll
	outBound    = 64 << 10 // bytes in out, beyond which Send takes no more
	directLeast = 8 << 10  // payload that leaves at once, without being copied into out
	gatherLeast = 2 << 10  // payload that is not copied if it leaves at once anyway
	scratchSize = wire.MaxHeader + directLeast
)

// Send hands a frame to the socket, or puts it behind those that wait.
func (l *link) Send(h *wire.Header, v *wire.Vec, off int) bool {
	p := l.port
	n := int(h.Length)
	if most := l.maxLength(h.Kind); n > most {
		panicTooLong(h, most)
	}
	if l.fd < 0 || l.broken != nil {
		return false
	}
	if h.Kind == wire.PullRequest {
		l.lean = true
	}
	if l.full || l.retained.left > 0 || len(l.out)-l.sent > outBound {
		return l.queue(h, v, off)
	}
	if l.tls == nil {
		first := len(l.out) == 0 && l.key >= 0 && l.leads()
		if n >= directLeast || first && n >= gatherLeast {
			l.direct(h, v, off)
			l.led = time.Since(epoch)
			return true
		}
		if first {
			frame := h.Append(p.scratch[:0])
			if n > 0 {
				frame = frame[:len(frame)+n]
				v.Gather(frame[len(frame)-n:], off)
			}
			l.write(frame)
			l.led = time.Since(epoch)
			return true
		}
	}
	first := l.key < 0 || l.tls != nil && len(l.out) == 0 && l.leads()
	l.hold(h, v, off)
	l.held++
	if first || len(l.out) >= flushAt {
		l.held = 0
		if !l.flush() {
			l.wait()
		}
		l.led = time.Since(epoch)
	} else if !l.waiting {
		l.wait()
		p.events.Soon()
	}
	return true
}

// leads reports whether a frame leaves at once.
func (l *link) leads() bool {
	if l.turn == l.port.turn && !l.alone.next() && time.Since(epoch)-l.led < pause {
		return false
	}
	l.turn = l.port.turn
	return true
}

// spell is a number of frames that leave one by one, because polls came too late for those that waited for them, and these were few: the
// program computes between its sends. It takes several such polls in a row, for a process that shares its cores is late now and then, but a single one
// where Go has one processor: the endpoint's own goroutine then waits for it until Go takes it away from the program, 10 ms or so. Each
// further one makes the next spell twice as long.
type spell struct{ late, left int }

const (
	latePolls  = 16
	fewFrames  = 10 * time.Microsecond // or more between two of them: twice what a call for each costs
	leastSpell = 256
	mostSpell  = 1 << 16
)

// next reports whether a frame leaves by itself.
func (s *spell) next() bool {
	if s.left == 0 {
		return false
	}
	s.left--
	return true
}

// waited is told whether the poll that frames have waited for was late.
func (s *spell) waited(late, narrow bool) {
	if !late {
		*s = spell{}
		return
	}
	enough := latePolls
	if narrow {
		enough = 1
	}
	if s.late++; s.late >= enough {
		s.left = min(leastSpell<<min(s.late-enough, 16), mostSpell)
	}
}

// epoch is when the links' clock began.
var epoch = time.Now()

// queue takes a frame while the socket is full, if it is small and not too many
// wait before it. A goodbye it takes in any case: whoever says it may close the link
// next, and not come back with it.
func (l *link) queue(h *wire.Header, v *wire.Vec, off int) bool {
	switch {
	case h.Kind == wire.Bye:
		l.Reclaim() // it goes behind that
	case l.retained.left > 0 || int(h.Length) >= directLeast || len(l.out)-l.sent > outBound:
		return false
	}
	l.hold(h, v, off)
	return true
}

// hold copies a frame into out.
func (l *link) hold(h *wire.Header, v *wire.Vec, off int) {
	n := int(h.Length)
	l.compact()
	b := h.Append(l.port.pool.grow(l.out, wire.MaxHeader+n))
	if n > 0 {
		b = b[:len(b)+n]
		v.Gather(b[len(b)-n:], off)
	}
	l.out = b
}

// compact moves what waits to the front of out if that makes much room.
func (l *link) compact() {
	if l.sent > 0 && l.sent >= len(l.out)/2 {
		l.out = l.out[:copy(l.out, l.out[l.sent:])]
		l.sent = 0
	}
}

// wait has the next poll flush the link.
func (l *link) wait() {
	if !l.waiting && l.key >= 0 {
		l.waiting = true
		l.port.unsent = append(l.port.unsent, l)
	}
}

func panicTooLong(h *wire.Header, most int) {
	panic(fmt.Sprintf("tcp: %v frame of %d bytes, at most %d are allowed", h.Kind, h.Length, most))
}
