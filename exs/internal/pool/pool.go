// Package pool has the places that packets are received in: memory of the library
// that a program reads a packet in, and gives back. It also says when the sender must be
// told that packets were taken, since a packet counts as taken only when its place is
// back. It has no input, output, time and concurrency.
package pool

// Pool is the places of one socket. Each is free, or holds a packet that nobody has
// received yet, or is lent to the program.
type Pool struct {
	size, most int
	free       [][]byte
	used       map[*byte]bool // the places that are not free: whether they are lent
	lent       int
}

// New makes a pool of that many places at most, of size bytes each. They are made when
// they are first needed.
func New(size, most int) *Pool {
	return &Pool{size: size, most: most, used: map[*byte]bool{}}
}

// Size returns the bytes of a place.
func (p *Pool) Size() int { return p.size }

// Lent returns how many places the program has.
func (p *Pool) Lent() int { return p.lent }

// Take returns a place to put a packet in, or nil if all are in use.
func (p *Pool) Take() []byte {
	var b []byte
	switch n := len(p.free); {
	case n > 0:
		b, p.free = p.free[n-1], p.free[:n-1]
	case len(p.used) < p.most:
		b = make([]byte, p.size)
	default:
		return nil
	}
	p.used[&b[0]] = false
	return b
}

// Lend notes that the program has the place that b begins.
func (p *Pool) Lend(b []byte) {
	p.used[&b[:1][0]] = true
	p.lent++
}

// Holds reports whether b begins a place that holds a packet.
func (p *Pool) Holds(b []byte) bool {
	if cap(b) < p.size {
		return false
	}
	lent, ours := p.used[&b[:1][0]]
	return ours && !lent
}

// Drop makes the place that b begins free again, if it held a packet.
func (p *Pool) Drop(b []byte) {
	if p.Holds(b) {
		p.put(b)
	}
}

// Back takes back a place that is lent. False: b does not begin one.
func (p *Pool) Back(b []byte) bool {
	if cap(b) < p.size || !p.used[&b[:1][0]] {
		return false
	}
	p.lent--
	p.put(b)
	return true
}

func (p *Pool) put(b []byte) {
	delete(p.used, &b[:1][0])
	p.free = append(p.free, b[:p.size])
}

// Due reports whether credits must be returned to the sender for the packets that were taken, of which
// it does not know of untold. It may be window packets ahead, of which lent ones lie with
// the program. They are returned early enough that it never has to wait for anything but places that
// are lent.
func Due(untold, lent, window uint32) bool {
	return untold > 0 && untold >= (window-min(lent, window))/2
}
