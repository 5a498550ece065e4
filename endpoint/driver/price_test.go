package driver

import (
	"testing"
	"testing/synctest"
	"time"
)

// Where offers are cheap, one is made at each look at the clock. Where they are dear, a wait polls for most of its time, and an offer
// that takes as long as it always does does not make the core a shared one.
func TestPriceOfOffers(t *testing.T) {
	for _, c := range []struct{ offer, pause, taken time.Duration }{
		{0, 0, leastTaken},
		{cheapOffer, 0, leastTaken},
		{1400 * time.Nanosecond, 5600 * time.Nanosecond, 4200 * time.Nanosecond},
		{dearestOffer, 4 * dearestOffer, 3 * dearestOffer},
		{dearestOffer + 1, 0, leastTaken}, // somebody has taken all of them
	} {
		if p := priced(c.offer); p.pause != c.pause || p.taken != c.taken {
			t.Errorf("an offer costs %v: pauses of %v, taken above %v, want %v and %v", c.offer, p.pause, p.taken, c.pause, c.taken)
		}
	}
}

// Offers are made until one is cheap, or a process that computes takes one.
func TestOffersThatArePriced(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		take   []time.Duration
		offers int
		least  time.Duration
	}{
		{[]time.Duration{0}, 1, 0},
		{[]time.Duration{9 * us, us, 5 * us}, pricedOffers, us},
		{[]time.Duration{9 * us, us, robbed + 1}, 3, us},
		{[]time.Duration{time.Second}, 1, robbed},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			if least := leastOffer(func() { time.Sleep(c.take[n%len(c.take)]); n++ }); least != c.least || n != c.offers {
				t.Errorf("of %v: %v after %d offers, want %v after %d", c.take, least, n, c.least, c.offers)
			}
		})
	}
}

func TestDearOffersAreSeldom(t *testing.T) {
	const look, offer = time.Microsecond, 2 * time.Microsecond
	p := priced(offer)
	s, now, made, polling := newService(p.pause), time.Second, 0, time.Duration(0)
	for end := now + time.Millisecond; now < end; now, polling = now+look, polling+look {
		if s.goesOn(now, false) {
			continue
		}
		if made++; made == 1 && polling < p.pause {
			t.Errorf("the first offer after %v", polling)
		}
		now += offer
		s.offered = now
	}
	if least := int(time.Millisecond / (p.pause + offer + look)); made < least || polling < 3*time.Millisecond/4 {
		t.Errorf("%d offers, want at least %d; polled for %v of %v", made, least, polling, time.Millisecond)
	}
}

func TestTakenOfferIsDearerThanOthers(t *testing.T) {
	p := freePace(t)
	p.price = priced(dearestOffer)
	if p.offered(2 * dearestOffer); p.shared {
		t.Error("an offer that took twice as long as others makes the core a shared one")
	}
	if p.offered(p.taken + 1); !p.shared {
		t.Error("an offer that was taken does not")
	}
}

func TestWhatAnOfferLends(t *testing.T) {
	const price = time.Microsecond
	p := priced(price)
	if p.lent(price/2) != 0 || p.lent(price) != 0 || p.lent(5*price) != 4*price {
		t.Errorf("offers of %v, %v and %v lend %v, %v and %v", price/2, price, 5*price, p.lent(price/2), p.lent(price), p.lent(5*price))
	}
}
