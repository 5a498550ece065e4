package transport

import (
	"math"
	"time"
)

// How long a close waits for what has not left yet: while some of it leaves within CloseBound, MostClose altogether.
const (
	CloseBound = time.Second
	MostClose  = 5 * time.Second
)

// Patience is that of a close.
type Patience struct {
	begin, since time.Time
	least        int
}

// NewPatience begins to wait.
func NewPatience() Patience {
	now := time.Now()
	return Patience{now, now, math.MaxInt}
}

// Again is the patience of another stage of the same close, which waits for something else.
func (p *Patience) Again() Patience { return Patience{p.begin, time.Now(), math.MaxInt} }

// Waited is for how long the close has waited.
func (p *Patience) Waited() time.Duration { return time.Since(p.begin) }

// Over reports whether the close goes on without what is left.
func (p *Patience) Over(left int) bool {
	now := time.Now()
	if left < p.least {
		p.least, p.since = left, now
	}
	return now.Sub(p.since) > CloseBound || now.Sub(p.begin) > MostClose
}
