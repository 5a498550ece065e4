package exs

import "sync"

// Writes up to stageSize bytes are copied, so that the caller need not wait until they have left. At most mostStaged sends of such
// copies, and of longer writes that were given up, are on their way at a time.
const (
	stageSize  = 4 << 10
	mostStaged = 4
)

// stage is a copy of what was written.
type stage [stageSize]byte

var stages = sync.Pool{New: func() any { return new(stage) }}

// onItsWay is a send that nobody waits for.
type onItsWay struct {
	o *op
	g *stage // the copy that is sent, or nil if it is not to be used again
}

// staged are the sends that nobody waits for, oldest first.
type staged struct {
	ring  [mostStaged]onItsWay
	first int
	n     int
}

// writeShort writes a copy of b, and waits only until there is room for it. With
// ECANCELED it was interrupted.
func (c *Conn) writeShort(b []byte) (int, Errno) {
	if !c.reap() {
		return 0, ECANCELED
	}
	g := stages.Get().(*stage)
	o, gone, n := c.s.beginWrite(g[:copy(g[:], b)])
	switch {
	case n != 0:
		stages.Put(g)
		return 0, n
	case gone && o.ready():
		c.s.await(o)
		stages.Put(g)
		return len(b), 0
	case gone:
		c.staged.push(onItsWay{o, g})
		return len(b), 0
	}
	length, n, left := c.out.end(o)
	if left {
		c.staged.push(onItsWay{o: o})
	}
	if n != ECANCELED || !c.s.l.isOver() {
		stages.Put(g)
	}
	return length, n
}

func (q *staged) push(s onItsWay) {
	q.ring[(q.first+q.n)%mostStaged] = s
	q.n++
}

// reap takes back the copies that have left, and waits until there is room for
// another. It reports whether there is.
func (c *Conn) reap() bool {
	q := &c.staged
	for q.n > 0 {
		s := q.ring[q.first]
		if !s.o.ready() && (q.n < mostStaged || !c.out.await(s.o)) {
			break
		}
		c.s.await(s.o) // the next call reports why it failed
		if s.g != nil {
			stages.Put(s.g)
		}
		q.ring[q.first] = onItsWay{}
		q.first = (q.first + 1) % mostStaged
		q.n--
	}
	return q.n < mostStaged
}
