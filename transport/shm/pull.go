//go:build linux

package shm

import (
	"time"

	"gomx/transport"
	"gomx/transport/shm/internal/bulk"
	"gomx/transport/wire"
)

// Pull moves n bytes by the way that is quickest at present.
func (l *link) Pull(desc []byte, v *wire.Vec, n int, _ uint64) wire.PullResult {
	source, desc, ok := l.parseExposure(desc)
	if !ok {
		l.port.events.Count(transport.CorruptFrames)
		return wire.PullFailed
	}
	list, bytes, err := l.scratch.ParseDescribe(desc)
	if err != nil || bytes < n {
		l.port.events.Count(transport.CorruptFrames)
		return wire.PullFailed
	}
	far := l.far.Load()
	open := [wayEnd]bool{
		byArena:  far != nil && far.holdsAll(list),
		byRead:   l.direct.Load() == nil,
		byBlocks: true,
	}
	way := l.chooser.choose(n, open)
	began := time.Now()
	switch way {
	case byArena:
		far.copy(v, list, n)
	case byRead:
		if _, err := l.scratch.Read(l.pid, v, list, n); err != nil {
			l.direct.Store(&ending{err})
			l.port.events.Count(transport.PullFallbacks)
			return wire.PullFailed
		}
	case byBlocks:
		l.blocks = blockTimer{bytes: n, began: began}
		return wire.PullDeclined
	}
	if !source.stands() {
		return wire.PullFailed // the send has ended meanwhile: these may be other bytes
	}
	l.chooser.measured(n, way, time.Since(began))
	return wire.PullDone
}

// spread copies what another core has written into v from off on, and returns how
// many bytes found room.
func spread(v *wire.Vec, off int, src []byte) (done int) {
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

// blockTimer times a message that comes by blocks, the latest if there are
// several.
type blockTimer struct {
	bytes int // 0: none
	began time.Time
}

// arrived looks whether a frame is the last of the message that is timed.
func (l *link) arrived(h *wire.Header) {
	if b := &l.blocks; int(h.Offset)+int(h.Length) == b.bytes {
		l.chooser.measured(b.bytes, byBlocks, time.Since(b.began))
		b.bytes = 0
	}
}
