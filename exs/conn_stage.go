package exs

import "sync"

// Writes up to stageSize bytes are copied, so that nobody waits until they have left,
// as many as mostStaged at a time.
const (
	stageSize  = 4 << 10
	mostStaged = 4
)

// stage is a copy of what was written.
type stage struct {
	b [stageSize]byte
	o *op
}

var stages = sync.Pool{New: func() any { return new(stage) }}

// staged are the copies that are on their way, oldest first.
type staged struct {
	ring  [mostStaged]*stage
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
	o, gone, n := c.s.beginWrite(g.b[:copy(g.b[:], b)])
	switch {
	case n != 0:
		stages.Put(g)
		return 0, n
	case gone:
		g.o = o
		c.staged.push(g)
		return len(b), 0
	}
	length, n := c.out.end(o)
	if n != ECANCELED || !c.s.l.isOver() {
		stages.Put(g)
	}
	return length, n
}

func (q *staged) push(g *stage) {
	q.ring[(q.first+q.n)%mostStaged] = g
	q.n++
}

// reap takes back the copies that have left, and waits until there is room for
// another. It reports whether there is.
func (c *Conn) reap() bool {
	q := &c.staged
	for q.n > 0 {
		g := q.ring[q.first]
		if !g.o.ready() && (q.n < mostStaged || !c.out.await(g.o)) {
			break
		}
		c.s.await(g.o) // why it failed, the next call finds out
		g.o = nil
		stages.Put(g)
		q.ring[q.first] = nil
		q.first = (q.first + 1) % mostStaged
		q.n--
	}
	return q.n < mostStaged
}
