//go:build linux

package shm

import (
	"context"
	"runtime/trace"
	"slices"
	"sync/atomic"
	"time"

	"gomx/transport"
	"gomx/transport/shm/internal/bulk"
	"gomx/transport/shm/internal/cma"
	"gomx/transport/wire"
)

// piece is how many bytes are copied between two Polls: so many that the Polls
// between do not count, and so few that others get their turn.
const piece = 1 << 20

// pull is a message that is copied from the peer's memory.
type pull struct {
	link    *link
	id      uint64
	source  export
	from    []cma.Remote
	into    wire.Vec
	n, done int
	way     way
	counts  bool          // it is to be measured
	spent   time.Duration // copying
}

// Pull moves n bytes by the way that is quickest at present. During a Poll it copies what may still be copied in that.
// Everything else is left to the next Poll: a receive that finds a message does not keep its caller from sending one,
// which the peer may wait for.
func (l *link) Pull(desc []byte, v *wire.Vec, n int, id uint64) wire.PullResult {
	p := l.port
	source, desc, ok := l.parseExport(desc)
	if !ok {
		p.events.Count(transport.CorruptFrames)
		return wire.PullFailed
	}
	list, bytes, err := l.scratch.ParseDescriptor(desc)
	if err != nil || bytes < n {
		p.events.Count(transport.CorruptFrames)
		return wire.PullFailed
	}
	far := l.far.Load()
	way := l.chooser.choose(n, [wayEnd]bool{
		byArena:    far != nil && far.holdsAll(list),
		byRead:     l.direct.Load() == nil,
		byPipeline: true,
	})
	counts := l.chooser.counts(n)
	if way == byPipeline {
		l.blocks = blockTimer{}
		if counts {
			l.blocks = blockTimer{bytes: n, began: time.Now()}
		}
		return wire.PullDeclined
	}
	g := p.newPull()
	*g = pull{link: l, id: id, source: source, from: append(g.from, list...), into: *v, n: n, way: way, counts: counts}
	result := wire.PullStarted
	if p.delivers {
		result = g.copy(max(piece-p.copied, 0))
	} else {
		p.bell.Ring() // whoever sleeps is to make that Poll
	}
	if result == wire.PullStarted {
		p.pulls = append(p.pulls, g)
		p.copied = max(p.copied, 1)
	} else {
		p.freePull(g)
	}
	return result
}

// copy copies so many bytes more, or what is left.
func (g *pull) copy(most int) wire.PullResult {
	if trace.IsEnabled() {
		defer trace.StartRegion(context.Background(), "mx copy").End()
	}
	l, n := g.link, min(g.n-g.done, most)
	copied, _ := l.exported.table.at(reading)
	atomic.StoreUint64(copied, uint64(g.source.slot)+1)
	defer atomic.StoreUint64(copied, 0)
	if !g.source.stands() {
		return wire.PullFailed // the send has ended meanwhile
	}
	began := time.Now()
	if g.way == byArena {
		l.far.Load().copy(&g.into, g.from, g.done, n)
	} else if _, err := l.scratch.ReadAt(l.pid, &g.into, g.from, g.done, n); err != nil {
		if !g.source.stands() {
			return wire.PullFailed // the memory went with the send: others can still be read
		}
		l.direct.Store(&ending{err})
		l.port.events.Count(transport.PullFallbacks)
		return wire.PullFailed
	}
	g.done += n
	g.spent += time.Since(began)
	l.port.copied += n
	switch {
	case !g.source.stands():
		return wire.PullFailed // the send has ended meanwhile: these may be other bytes
	case g.done < g.n:
		return wire.PullStarted
	case g.counts:
		l.chooser.measured(g.n, g.way, g.spent)
	}
	return wire.PullDone
}

// StopPull ends a pull, and reports whether it was under way.
func (l *link) StopPull(id uint64) bool {
	p := l.port
	i := slices.IndexFunc(p.pulls, func(g *pull) bool { return g.link == l && g.id == id })
	if i < 0 {
		return false
	}
	g := p.pulls[i]
	p.pulls = slices.Delete(p.pulls, i, i+1)
	p.freePull(g)
	return true
}

// copyOn copies a piece of what is under way, each pull in its turn, and returns
// how many it has copied of: whoever polls is not idle meanwhile.
func (p *port) copyOn(h transport.Handler) (n int) {
	for p.copied = 0; len(p.pulls) > 0 && p.copied < piece; {
		n++
		g := p.pulls[0]
		result := g.copy(piece - p.copied)
		p.pulls = slices.Delete(p.pulls, 0, 1)
		if result == wire.PullStarted {
			p.pulls = append(p.pulls, g)
			continue
		}
		id := g.id
		p.freePull(g)
		h.PullFinished(id, result == wire.PullDone)
	}
	return n
}

func (p *port) newPull() *pull {
	if n := len(p.idle); n > 0 {
		g := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return g
	}
	return new(pull)
}

// freePull forgets whose memory it was.
func (p *port) freePull(g *pull) {
	*g = pull{from: g.from[:0]}
	p.idle = append(p.idle, g)
}

// scatter copies what another core has written into v from off on, and returns how
// many bytes found room.
func scatter(v *wire.Vec, off int, src []byte) (done int) {
	for i := 0; i < v.Segments() && done < len(src); i++ {
		part := v.Segment(i)
		if off >= len(part) {
			off -= len(part)
			continue
		}
		done += bulk.Copy(part[off:], src[done:])
		off = 0
	}
	return done
}

// blockTimer times a message that arrives by pipelined rendezvous, the latest one if there
// are several.
type blockTimer struct {
	bytes int // 0: none
	began time.Time
}

// arrived looks whether a frame is the last of the message that is timed.
func (l *link) arrived(h *wire.Header) {
	if b := &l.blocks; int(h.Offset)+int(h.Length) == b.bytes {
		l.chooser.measured(b.bytes, byPipeline, time.Since(b.began))
		b.bytes = 0
	}
}
