package driver

import (
	"sync"
	"time"
)

// These constants say what follows from the price of an offer of the core, which is the time that one takes if no other wants the core.
const (
	pricedOffers = 8                     // the least of so many offers is the price
	cheapOffer   = 500 * time.Nanosecond // up to this price, the core is offered whenever a wait reads the clock
	dearestOffer = 2 * time.Microsecond  // if all take longer, others want the core, and offers are taken for cheap
	pausePrices  = 4                     // prices that pass between two dearer offers, so that most of a wait is spent on polls
	takenPrices  = 3                     // an offer that takes more prices than this was taken
	leastTaken   = 2 * time.Microsecond  // least bound for that
)

// price is what offers of the core cost on this machine: a quarter of a microsecond where a system call is cheap, and several times
// that in some virtual machines.
type price struct {
	least time.Duration // what an offer takes that no other takes; 0: unknown, or next to nothing
	pause time.Duration // least time on a core of its own between two offers, and before the first one
	taken time.Duration // an offer that takes longer was taken
}

func priced(offer time.Duration) price {
	if offer > dearestOffer {
		offer = 0
	}
	p := price{least: offer, taken: max(leastTaken, takenPrices*offer)}
	if offer > cheapOffer {
		p.pause = pausePrices * offer
	}
	return p
}

// lent is for how long others had the core in an offer that took so long.
func (p price) lent(took time.Duration) time.Duration { return max(took-p.least, 0) }

// offers has the price of this process.
var offers = struct {
	once sync.Once
	price
}{price: priced(0)}

// priceOffers measures the price, once in a process.
func priceOffers(yield func()) price {
	offers.once.Do(func() { offers.price = priced(leastOffer(yield)) })
	return offers.price
}

// leastOffer is how long the shortest of some offers takes. The first cheap one says enough, and after one that a process has taken that
// computes there is no other.
func leastOffer(yield func()) (least time.Duration) {
	least = robbed
	for range pricedOffers {
		before := time.Now()
		yield()
		took := time.Since(before)
		if least = min(least, took); took <= cheapOffer || took > robbed {
			break
		}
	}
	return least
}
