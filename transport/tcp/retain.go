//go:build linux

package tcp

import (
	"gomx/transport/tcp/internal/sock"
	"gomx/transport/wire"
)

// retained is what is left of the payload of a PullData frame, in the memory that
// it is sent from. It leaves after out.
type retained struct {
	vec  wire.Vec
	off  int
	left int
}

// Reclaim copies what is retained into out.
func (l *link) Reclaim() {
	r := &l.retained
	if r.left > 0 {
		l.out = l.port.pool.grow(l.out, r.left)
		b := l.out[:len(l.out)+r.left]
		r.vec.Gather(b[len(l.out):], r.off)
		l.out = b
		*r = retained{}
	}
}

// direct sends a frame from where its payload lies, after what waits in out.
func (l *link) direct(h *wire.Header, v *wire.Vec, off int) {
	n := int(h.Length)
	p := l.port
	head := h.Append(p.scratch[:0])
	p.batch.Add(l.out[l.sent:])
	p.batch.Add(head)
	addSegments(&p.batch, v, off, n)
	done := l.push()
	if k := min(done, len(l.out)-l.sent); k > 0 {
		l.sent += k
		done -= k
	}
	if l.sent == len(l.out) {
		l.freeOut()
	}
	if done < len(head) {
		l.out = append(p.pool.grow(l.out, len(head)-done), head[done:]...)
		done = len(head)
	}
	l.retained = retained{vec: *v, off: off + done - len(head), left: n + len(head) - done}
	switch {
	case l.retained.left == 0:
		l.retained = retained{}
	case h.Kind != wire.PullData:
		l.Reclaim()
	}
	if !l.flush() { // a list may be too long for one call
		l.wait()
	}
}

// addSegments adds n bytes of v from off on, or as many as there are places for,
// and returns how many.
func addSegments(to *sock.Batch, v *wire.Vec, off, n int) (added int) {
	for i := 0; i < v.Segments() && added < n; i++ {
		seg := v.Segment(i)
		if off >= len(seg) {
			off -= len(seg)
			continue
		}
		seg = seg[off:min(len(seg), off+n-added)]
		off = 0
		if !to.Add(seg) {
			break
		}
		added += len(seg)
	}
	return added
}
