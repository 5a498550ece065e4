package mx_test

import (
	"bytes"
	"testing"

	"gomx/mx"
)

// MX_DISABLE_SELF sends an endpoint's messages to itself over the transport that
// serves peers. Nothing else changes.
func TestDisableSelf(t *testing.T) {
	t.Setenv("MX_DISABLE_SELF", "1")
	over(t, func(w *world) {
		ep := w.open()
		for _, size := range []int{0, 8, 100_000} {
			want, got := bytes.Repeat([]byte{7}, size), make([]byte, size)
			r, err := ep.Irecv(got, 5, exact, nil)
			if err != nil {
				w.Fatal(err)
			}
			s, err := ep.Isend(want, ep.Addr(), 5, nil)
			if err != nil {
				w.Fatal(err)
			}
			st, ok, err := ep.Wait(r, bound)
			if !ok || err != nil || st.Code != mx.StatusSuccess || st.Source != ep.Addr() || !bytes.Equal(got, want) {
				w.Errorf("%d bytes: %v %v %+v", size, ok, err, st)
			}
			if st, ok, err := ep.Wait(s, bound); !ok || err != nil || st.Code != mx.StatusSuccess {
				w.Errorf("%d bytes, send: %v %v %+v", size, ok, err, st)
			}
		}
		for _, c := range ep.Counters() {
			if c.Label == "sent over "+w.medium && c.Value != 3 || c.Label == "sent over self" && c.Value != 0 {
				w.Errorf("%s: %d", c.Label, c.Value)
			}
		}
	})
}

// An endpoint that has no transport but self says so where it is to reach another one, and what would help.
func TestConnectWithSelfAlone(t *testing.T) {
	initialize(t)
	to, ep := (&world{t, "mem"}).open(), (&world{t, "self"}).open()
	nic, id, err := mx.DecomposeEndpointAddr(to.Addr())
	if err != nil {
		t.Fatal(err)
	}
	_, err = ep.Connect(nic, id, testFilter, bound)
	refused(t, err, mx.ErrNICNotFound, "none but self", "MX_TRANSPORT")
}
