package mx_test

import (
	"testing"
	"time"

	"gomx/mx"
)

func TestVII11IprobeFillsTheWholeStatusAndTakesNothing(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		for _, from := range []struct {
			to     mx.EndpointAddr
			source mx.EndpointAddr
			at     *mx.Endpoint
		}{{toB, toA, b}, {a.Addr(), a.Addr(), a}} {
			for _, n := range sizes {
				r, err := a.Isend(pattern(n, 0), from.to, 0x55, "the sender's")
				if err != nil {
					w.Fatal(err)
				}
				want := mx.Status{Code: mx.StatusSuccess, Source: from.source, MatchInfo: 0x55, MsgLength: uint32(n), XferLength: uint32(n)}
				w.arrived(from.at, 0x55, exact)
				for range 3 {
					st, ok, err := from.at.Iprobe(0x55, 0xff)
					if err != nil || !ok || st != want {
						w.Errorf("%d bytes: %+v, %v, %v, want %+v", n, st, ok, err, want)
					}
				}
				if _, ok, err := from.at.Iprobe(0x54, 0xff); ok || err != nil {
					w.Error(ok, err)
				}
				w.succeed(from.at, w.irecv(from.at, make([]byte, n), 0x55, exact))
				w.done(a, r)
				if _, ok, err := from.at.Iprobe(0, everything); ok || err != nil {
					w.Error("the message is still there", ok, err)
				}
			}
		}
	})
}

func TestVII11ProbeThenReceiveGetsTheSameMessage(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		lengths := []int{5, 70_000, 0, 300}
		for _, n := range lengths {
			w.isend(a, pattern(n, byte(n)), toB, 1)
		}
		for _, n := range lengths {
			st := w.arrived(b, 0, everything)
			if int(st.MsgLength) != n {
				w.Fatalf("probe saw %d bytes, want %d", st.MsgLength, n)
			}
			buf := make([]byte, st.MsgLength)
			if got := w.succeed(b, w.irecv(b, buf, 0, everything)); got.MsgLength != st.MsgLength {
				w.Errorf("receive got %d bytes", got.MsgLength)
			}
		}
	})
}

func TestVII11MessagesWithAReceiveAreNotProbed(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		recv := w.irecv(b, nil, 1, exact)
		w.isend(a, nil, toB, 1)
		if _, ok, err := b.Probe(20*time.Millisecond, 0, everything); ok || err != nil {
			w.Error(ok, err)
		}
		w.succeed(b, recv)
	})
}

func TestVII11BadMaskIsRefused(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		_, _, err := a.Iprobe(2, 1)
		refused(w, err, mx.ErrBadMatchMask, "probe", a.String())
		_, _, err = a.Probe(bound, 1<<63, 1)
		refused(w, err, mx.ErrBadMatchMask, "probe", a.String())
	})
}

func TestVII12ProbeTimesOut(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		for _, timeout := range []time.Duration{0, time.Millisecond, -1} {
			if _, ok, err := a.Probe(timeout, 0, everything); ok || err != nil {
				w.Error(ok, err)
			}
		}
	})
}

func TestVII12OneMessageIsShownToOneBlockedProbe(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		const probers = 4
		got := make(chan mx.Status, probers)
		for range probers {
			go func() {
				st, ok, err := b.Probe(bound, 0, everything)
				if err == nil && ok {
					st.Context = ok
				}
				got <- st
			}()
		}
		waitBlocked(w, probers)
		for i := range uint64(probers) {
			w.isend(a, nil, toB, i)
		}
		seen := map[uint64]bool{}
		for range probers {
			st := receive(w, "Probe", got)
			if st.Context != true || seen[st.MatchInfo] {
				w.Errorf("a probe ended without a message of its own: %+v", st)
			}
			seen[st.MatchInfo] = true
		}
		for range probers {
			w.succeed(b, w.irecv(b, nil, 0, everything))
		}
	})
}
