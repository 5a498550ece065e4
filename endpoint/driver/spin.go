package driver

import (
	"runtime"
	"sync/atomic"
	"time"
)

// How long to spin before sleeping.
const (
	DefaultSpin = 50 * time.Microsecond
	leastSpin   = time.Microsecond

	shortSleep = 8 // in longest spins: after a shorter sleep, spinning might have paid

	spinsPerLook = 64                    // polls between two looks at the clock
	stolen       = 25 * time.Microsecond // the shortest gap between looks that says: not alone on this core
	stolenTimes  = 4                     // and it is so many times as long as usual: some media take long to poll
	crowdedFor   = 20 * time.Millisecond // how long that is believed
)

// spinners counts the goroutines of this process that spin. More of them than
// processors only keep each other from getting on.
var spinners atomic.Int32

// pace decides how long a waiting caller spins. The budget follows what waiting
// was like of late: it grows when a sleep proved short, and shrinks when one was
// long or the core is shared.
type pace struct {
	most    time.Duration
	budget  time.Duration
	crowded time.Time
	gap     time.Duration // between two looks, usually
}

func newPace(most time.Duration) pace {
	switch {
	case most == 0:
		most = DefaultSpin
	case most < 0:
		most = 0
	}
	return pace{most: most, budget: most}
}

// begin reports how long to spin now. If it is not 0, the caller must call
// leaveSpin.
func (p *pace) begin() time.Duration {
	if p.most == 0 {
		return 0
	}
	if int(spinners.Add(1)) > runtime.GOMAXPROCS(0) || (!p.crowded.IsZero() && time.Now().Before(p.crowded)) {
		spinners.Add(-1)
		return 0
	}
	return p.budget
}

func leaveSpin() { spinners.Add(-1) }

// stole reports whether a gap between two looks is so long that somebody else must have
// had the core.
func (p *pace) stole(gap time.Duration) bool {
	usual := p.gap
	if gap < usual || usual == 0 {
		p.gap = gap
		return false
	}
	p.gap += (gap - usual) / 8
	return gap > stolen && gap > stolenTimes*usual
}

// lost notes that the core was given to somebody else while we span.
func (p *pace) lost(now time.Time) {
	p.crowded = now.Add(crowdedFor)
	p.budget = max(leastSpin, p.budget/4)
}

// slept notes how long a sleep after spinning took. Being woken takes a while by
// itself, and two processes that wait for each other's wake-ups would never find
// out of it if only sleeps shorter than the budget counted in favour of spinning.
func (p *pace) slept(d time.Duration) {
	if d < shortSleep*p.most {
		p.budget = p.most
	} else {
		p.budget = max(min(leastSpin, p.most), p.budget/2)
	}
}
