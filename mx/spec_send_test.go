package mx_test

import (
	"bytes"
	"fmt"
	"testing"

	"gomx/mx"
)

// kinds are the ways to send.
var kinds = map[string]func(ep *mx.Endpoint, segs [][]byte, to mx.EndpointAddr, match uint64, context any) (mx.Request, error){
	"isend":  (*mx.Endpoint).Isendv,
	"issend": (*mx.Endpoint).Issendv,
	"isendacked": func(ep *mx.Endpoint, segs [][]byte, to mx.EndpointAddr, match uint64, context any) (mx.Request, error) {
		return ep.IsendLevel(mx.SendAcked, segs, to, match, context)
	},
}

// cut cuts a buffer into n segments of different lengths, some of them empty.
func cut(b []byte, n int) [][]byte {
	segs := make([][]byte, n)
	for i := range segs {
		k := len(b) / n
		switch i % 4 {
		case 1:
			k = 0
		case 2:
			k += k / 2
		}
		if i == n-1 || k > len(b) {
			k = len(b)
		}
		segs[i], b = b[:k:k], b[k:]
	}
	return segs
}

func TestV11EverySizeArrivesWhole(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		for name, send := range kinds {
			for _, n := range sizes {
				for _, early := range []bool{true, false} {
					want, got := pattern(n, 9), make([]byte, n)
					var recv mx.Request
					if early {
						recv = w.irecv(b, got, 5, exact)
					}
					s, err := send(a, [][]byte{want}, toB, 5, name)
					if err != nil {
						w.Fatal(err)
					}
					if !early {
						w.arrived(b, 5, exact)
						recv = w.irecv(b, got, 5, exact)
					}
					st := w.succeed(b, recv)
					if st.MsgLength != uint32(n) || st.XferLength != uint32(n) || st.MatchInfo != 5 || st.Source != toA || !bytes.Equal(got, want) {
						w.Fatalf("%s of %d bytes, receive first %v: %+v", name, n, early, st)
					}
					st = w.succeed(a, s)
					if st.MsgLength != uint32(n) || st.XferLength != uint32(n) || st.MatchInfo != 5 || st.Source != toB || st.Context != name {
						w.Fatalf("%s of %d bytes, the sender's: %+v", name, n, st)
					}
				}
			}
		}
	})
}

func TestV11NoSegmentsAndNilBuffers(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for name, send := range kinds {
			for _, segs := range [][][]byte{nil, {}, {nil}, {{}, nil, {}}} {
				recv := w.irecv(b, nil, 1, exact)
				r, err := send(a, segs, toB, 1, nil)
				if err != nil {
					w.Fatal(name, err)
				}
				if st := w.succeed(b, recv); st.MsgLength != 0 || st.XferLength != 0 {
					w.Errorf("%+v", st)
				}
				w.succeed(a, r)
			}
		}
		r, err := b.Irecvv(nil, 2, exact, nil)
		if err != nil {
			w.Fatal(err)
		}
		w.isend(a, []byte("data"), toB, 2)
		if st := w.done(b, r); st.Code != mx.StatusTruncated || st.MsgLength != 4 || st.XferLength != 0 {
			w.Errorf("%+v", st)
		}
	})
}

func TestV11SegmentsMayBeCutDifferently(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for _, n := range []int{0, 1, 100, 5000, 300_000} {
			for _, cuts := range [][2]int{{1, 256}, {256, 1}, {256, 255}, {3, 7}, {2, 2}} {
				for _, early := range []bool{true, false} {
					want, got := pattern(n, byte(cuts[0])), make([]byte, n)
					out, in := cut(want, cuts[0]), cut(got, cuts[1])
					var recv mx.Request
					post := func() {
						var err error
						if recv, err = b.Irecvv(in, 1, exact, nil); err != nil {
							w.Fatal(err)
						}
						clear(in) // the list is ours again
					}
					if early {
						post()
					}
					send, err := a.Isendv(out, toB, 1, nil)
					if err != nil {
						w.Fatal(err)
					}
					clear(out)
					if !early {
						w.arrived(b, 1, exact)
						post()
					}
					w.succeed(b, recv)
					w.succeed(a, send)
					if !bytes.Equal(got, want) {
						w.Fatalf("%d bytes, %d segments into %d: arrived changed", n, cuts[0], cuts[1])
					}
				}
			}
		}
	})
}

func TestV11TooManySegmentsAreRefused(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for name, send := range kinds {
			r, err := send(a, cut(pattern(1000, 0), mx.MaxSegments+1), toB, 1, nil)
			refused(w, err, mx.ErrBadSegCount, name, a.String(), b.String())
			if !r.IsZero() {
				w.Error("a request came with the error")
			}
			_, err = send(a, make([][]byte, 257), toB, 1, nil) // empty ones count
			refused(w, err, mx.ErrBadSegCount, name)
		}
		if _, found, err := b.Iprobe(0, everything); found || err != nil {
			w.Errorf("something was sent: %v", err)
		}
		if n := counter(w, a, "requests in use"); n != 0 {
			w.Errorf("%d requests are left over", n)
		}
	})
}

func TestV11CompletionSaysNothingOfTheFate(t *testing.T) {
	over(t, func(w *world) {
		a, _, toB, _ := w.pair()
		for i := range 50 {
			w.succeed(a, w.isend(a, pattern(64, 0), toB, uint64(i))) // nobody receives
		}
	})
}

func TestV11BufferIsOursAgainOnceComplete(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for _, n := range []int{1, 64, 1000} {
			buf := pattern(n, 1)
			w.succeed(a, w.isend(a, buf, toB, 1))
			clear(buf)
			got := make([]byte, n)
			w.succeed(b, w.irecv(b, got, 1, exact))
			if !bytes.Equal(got, pattern(n, 1)) {
				w.Errorf("%d bytes: what was written later arrived", n)
			}
		}
	})
}

func TestV12SynchronousSendCompletesOnlyWhenMatched(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for _, to := range []struct {
			ep   *mx.Endpoint
			addr mx.EndpointAddr
		}{{b, toB}, {a, a.Addr()}} {
			for _, n := range sizes {
				send := w.issend(a, pattern(n, 2), to.addr, 1)
				w.arrived(to.ep, 1, exact)
				w.pending(a, send)
				w.succeed(to.ep, w.irecv(to.ep, make([]byte, n), 1, exact))
				w.succeed(a, send)
			}
		}
	})
}

func TestV12BufferedBeforeCompleteForSmallMessages(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for _, addr := range []mx.EndpointAddr{toB, a.Addr()} {
			for _, n := range []int{0, 1, 40, 41, 1000} {
				buf := pattern(n, 4)
				send := w.issend(a, buf, addr, uint64(n))
				if ok, err := a.Ibuffered(send); !ok || err != nil {
					w.Fatalf("%d bytes to %v: buffered %v, %v", n, addr, ok, err)
				}
				clear(buf)
				w.pending(a, send)
				to := b
				if addr == a.Addr() {
					to = a
				}
				got := make([]byte, n)
				w.succeed(to, w.irecv(to, got, uint64(n), exact))
				if !bytes.Equal(got, pattern(n, 4)) {
					w.Errorf("%d bytes: what was written later arrived", n)
				}
				w.succeed(a, send)
			}
		}
	})
}

// The loop of the manual's example V.1, for any size.
func TestV12ExampleLoopOnIbufferedEnds(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for _, n := range sizes {
			recv := w.irecv(b, make([]byte, n), 1, exact)
			send := w.issend(a, pattern(n, 0), toB, 1)
			w.until(fmt.Sprintf("%d bytes are buffered", n), func() bool {
				ok, err := a.Ibuffered(send)
				if err != nil {
					w.Fatal(err)
				}
				return ok
			}, b)
			w.succeed(b, recv)
			w.succeed(a, send)
		}
	})
}

func TestV1ForeignAndZeroAddresses(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for name, send := range kinds {
			_, err := send(a, nil, mx.EndpointAddr{}, 1, nil)
			refused(w, err, mx.ErrBadAddrList, name, a.String())
			_, err = send(b, nil, toB, 1, nil)
			refused(w, err, mx.ErrBadEndpoint, name, b.String())
		}
		_, err := a.Isend(nil, mx.EndpointAddr{}, 1, nil)
		refused(w, err, mx.ErrBadAddrList, "isend", a.String())
		_, err = a.Issend(nil, mx.EndpointAddr{}, 1, nil)
		refused(w, err, mx.ErrBadAddrList, "issend", a.String())
	})
}

func TestV1SendToAClosedPeerFailsInTheStatus(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		shut(w, b)
		send := w.issend(a, pattern(10, 0), toB, 1)
		large := w.isend(a, pattern(200_000, 0), toB, 1)
		for _, r := range []mx.Request{send, large} {
			if st := w.done(a, r); st.Code == mx.StatusSuccess || st.Err() == nil {
				w.Errorf("%+v", st)
			}
		}
	})
}
