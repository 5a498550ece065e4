package driver_test

import (
	"bytes"
	"testing"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/internal/testlength"
	"gomx/transport/mem"
)

func overLink(c *driver.Config) { c.Engine.SelfOverLink = true }

// Messages to oneself over a link look like those that stay in the engine, but
// for the transport that counts them.
func TestSelfOverLink(t *testing.T) {
	testlength.Long(t)
	lossy := mem.Options{Faults: mem.Faults{Seed: 1, Drop: 0.1, Duplicate: 0.1, Reorder: 0.2, MaxDelay: 3}}
	for name, o := range map[string]mem.Options{"safe": {}, "lossy": lossy} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, o)
			defer w.close()
			d := w.open(overLink)
			self := d.Self()
			for round := range 3 {
				for _, size := range []int{0, 8, 5000, 300_000} {
					want := bytes.Repeat([]byte{byte(size + round)}, size)
					got := make([]byte, size)
					early := w.recv(d, 1, got)
					first := w.send(d, self, 1, want)
					if st := w.wait(d, early); st.Source != self || int(st.XferLength) != size || !bytes.Equal(got, want) {
						t.Errorf("%d bytes: %+v", size, st)
					}
					w.wait(d, first)
					late, err := d.Send(&endpoint.Outgoing{First: want, To: self, Match: 2}, &endpoint.SendOptions{Level: endpoint.Matched})
					if err != nil {
						t.Fatal(err)
					}
					var st endpoint.Status
					if ok, err := d.Probe(noContext, 2, ^uint64(0), patience, &st); !ok || err != nil || st.Source != self {
						t.Errorf("probe: %v %v %+v", ok, err, st)
					}
					clear(got)
					if st := w.wait(d, w.recv(d, 2, got)); st.Source != self || !bytes.Equal(got, want) {
						t.Errorf("%d bytes, late: %+v", size, st)
					}
					if st := w.wait(d, late); st.Code != endpoint.Success {
						t.Errorf("synchronous send: %v", st.Code)
					}
				}
			}
			for _, m := range d.Report().Media {
				if m.Name == "self" && m.SentEager+m.SentRendezvous != 0 {
					t.Errorf("%d messages stayed in the engine", m.SentEager+m.SentRendezvous)
				}
			}
		})
	}
}

// Nobody can be dialled: the messages end with a status, and later ones may do
// better.
func TestSelfOverLinkWithoutLink(t *testing.T) {
	w := newWorld(t, mem.Options{})
	defer w.close()
	d := w.open(overLink, func(c *driver.Config) { c.Transports = nil })
	for range 2 {
		h := w.send(d, d.Self(), 1, []byte{1})
		if st := w.wait(d, h); st.Code != endpoint.EndpointUnreachable {
			t.Errorf("%v", st.Code)
		}
	}
}
