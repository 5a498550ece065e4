package endpoint_test

import (
	"testing"

	"gomx/endpoint"
	"gomx/transport/wire"
)

// The end of a link to oneself that was accepted is the mirror's and not the
// sender's, whichever of the two ends is up first and whatever the medium promises.
func TestEndsOfALinkToOneself(t *testing.T) {
	for name, caps := range map[string]wire.Caps{
		"safe":  {Name: "a", Reliable: true, Ordered: true, MaxFrame: 4096},
		"lossy": {Name: "a", MaxFrame: 4096},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(caps, endpoint.Config{SelfOverLink: true})
			accepted, own := &wiretap{caps: caps}, &wiretap{caps: caps}
			mirror, self := h.LinkOwner(1, 0, accepted, false), h.LinkOwner(1, 0, own, true)
			if self != 0 || mirror == 0 {
				t.Errorf("the accepted end is peer %d's, the dialled one peer %d's", mirror, self)
			}
			h.LinkUp(mirror, accepted, false)
			h.LinkUp(self, own, true)
			if of := h.LinkOf(accepted, 1, 0); of != mirror || h.LinkOf(own, 1, 0) != 0 {
				t.Errorf("then the accepted one is peer %d's, the dialled one peer %d's", of, h.LinkOf(own, 1, 0))
			}
			if claims := h.Counters().Claims; claims != 0 || len(h.host.dropped) != 0 {
				t.Errorf("%d claims, %d links dropped", claims, len(h.host.dropped))
			}
		})
	}
}
