package mx_test

import (
	"bytes"
	"testing"

	"gomx/mx"
)

func TestV21MatchIsMaskedIncomingEqualsValue(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		const value, mask = 0x1111111100003333, 0xffffffff0000ffff
		for _, early := range []bool{true, false} {
			var recv mx.Request
			if early {
				recv = w.irecv(b, make([]byte, 1), value, mask)
			}
			for _, miss := range []uint64{0, value ^ 1, value ^ 1<<63, value &^ 0x3333} {
				w.sendUnexpected(a, b, []byte{1}, toB, miss)
			}
			w.isend(a, []byte{2}, toB, value|0xabcd0000)
			if !early {
				w.arrived(b, value, mask)
				recv = w.irecv(b, make([]byte, 1), value, mask)
			}
			if st := w.succeed(b, recv); st.MatchInfo != value|0xabcd0000 {
				w.Errorf("matched %#x", st.MatchInfo)
			}
			for range 4 {
				w.succeed(b, w.irecv(b, make([]byte, 1), 0, everything))
			}
		}
	})
}

func TestV21BitsOutsideTheMaskAreRefused(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		for _, bad := range [][2]uint64{{1, 0}, {3, 1}, {1 << 63, 1<<63 - 1}} {
			r, err := a.Irecv(nil, bad[0], bad[1], nil)
			refused(w, err, mx.ErrBadMatchMask, "irecv", a.String())
			if !r.IsZero() {
				w.Error("a request came with the error")
			}
			_, err = a.Irecvv(nil, bad[0], bad[1], nil)
			refused(w, err, mx.ErrBadMatchMask, "irecv")
		}
		if n := counter(w, a, "posted receives"); n != 0 {
			w.Errorf("%d receives are posted", n)
		}
	})
}

func TestV21TooManySegmentsAreRefused(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		_, err := a.Irecvv(make([][]byte, mx.MaxSegments+1), 1, exact, nil)
		refused(w, err, mx.ErrBadSegCount, "irecv", a.String())
		r, err := a.Irecvv(make([][]byte, mx.MaxSegments), 1, exact, nil)
		if err != nil {
			w.Fatal(err)
		}
		if ok, err := a.Cancel(r); !ok || err != nil {
			w.Error(ok, err)
		}
	})
}

func TestII4MatchingIsInOrder(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		lengths := []int{0, 100_000, 5, 3000, 41, 70_000, 1}
		for _, early := range []bool{true, false} {
			var recvs, sends []mx.Request
			bufs := make([][]byte, len(lengths))
			post := func() {
				for i := range lengths {
					bufs[i] = make([]byte, 100_000)
					recvs = append(recvs, w.irecv(b, bufs[i], 7, exact))
				}
			}
			if early {
				post()
			}
			for i, n := range lengths {
				sends = append(sends, w.isend(a, pattern(n, byte(i)), toB, 7))
			}
			if !early {
				w.isend(a, nil, toB, 8)
				w.arrived(b, 8, exact)
				w.succeed(b, w.irecv(b, nil, 8, exact))
				post()
			}
			for i, r := range recvs {
				st := w.succeed(b, r)
				if int(st.MsgLength) != lengths[i] || !bytes.Equal(bufs[i][:lengths[i]], pattern(lengths[i], byte(i))) {
					w.Errorf("receives first %v: receive %d got %d bytes, want %d", early, i, st.MsgLength, lengths[i])
				}
			}
			for _, r := range sends {
				w.succeed(a, r)
			}
		}
	})
}

func TestII4OldestPostedReceiveWinsAcrossMasks(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		masks := []uint64{exact, everything, 0xff, everything, exact, 0xffff}
		var recvs []mx.Request
		for _, mask := range masks {
			recvs = append(recvs, w.irecv(b, make([]byte, 1), 0x1234&mask, mask))
		}
		for i := range masks {
			w.isend(a, []byte{byte(i)}, toB, 0x1234)
		}
		for i, r := range recvs {
			if st := w.succeed(b, r); st.MatchInfo != 0x1234 {
				w.Errorf("receive %d: %+v", i, st)
			}
		}
	})
}

func TestV21TruncationReportsBothLengths(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for _, n := range []int{1, 40, 1000, 5000, 200_000} {
			for _, size := range []int{0, 1, n / 2, n - 1} {
				if size >= n {
					continue
				}
				for _, early := range []bool{true, false} {
					buf := bytes.Repeat([]byte{0xee}, size+64)
					var recv mx.Request
					if early {
						recv = w.irecv(b, buf[:size], 1, exact)
					}
					send := w.isend(a, pattern(n, 6), toB, 1)
					if !early {
						w.arrived(b, 1, exact)
						recv = w.irecv(b, buf[:size], 1, exact)
					}
					st := w.done(b, recv)
					if st.Code != mx.StatusTruncated || st.MsgLength != uint32(n) || st.XferLength != uint32(size) {
						w.Errorf("%d bytes into %d: %+v", n, size, st)
					}
					if !bytes.Equal(buf[:size], pattern(n, 6)[:size]) {
						w.Errorf("%d bytes into %d: arrived changed", n, size)
					}
					if !bytes.Equal(buf[size:], bytes.Repeat([]byte{0xee}, 64)) {
						w.Errorf("%d bytes into %d: written past the buffer", n, size)
					}
					if st := w.done(a, send); st.MsgLength != uint32(n) || st.Code != mx.StatusSuccess && st.Code != mx.StatusTruncated {
						w.Errorf("the sender's: %+v", st)
					}
				}
			}
		}
	})
}

func TestV21LongerBufferIsLeftAloneBehindTheMessage(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for _, n := range sizes {
			buf := bytes.Repeat([]byte{0xee}, n+1000)
			recv := w.irecv(b, buf, 1, exact)
			w.isend(a, pattern(n, 6), toB, 1)
			w.succeed(b, recv)
			if !bytes.Equal(buf[:n], pattern(n, 6)) || !bytes.Equal(buf[n:], bytes.Repeat([]byte{0xee}, 1000)) {
				w.Errorf("%d bytes: wrong contents", n)
			}
		}
	})
}

func TestII5UnexpectedMessagesAreKeptInOrderOfArrival(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		const n = 300
		for i := range n {
			w.isend(a, []byte{byte(i)}, toB, uint64(i%3))
		}
		for i := range n {
			buf := make([]byte, 1)
			st := w.succeed(b, w.irecv(b, buf, 0, everything))
			if buf[0] != byte(i) || st.MatchInfo != uint64(i%3) {
				w.Fatalf("receive %d got message %d", i, buf[0])
			}
		}
	})
}

func TestII5BoundOnUnexpectedBytesDropsNothing(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		b := w.open(mx.WithUnexpQueueMax(8 << 10))
		toB := w.connect(a, b)
		const n = 500
		var sends []mx.Request
		for i := range n {
			sends = append(sends, w.isend(a, pattern(900, byte(i)), toB, uint64(i)))
			if err := b.Progress(); err != nil {
				w.Fatal(err)
			}
		}
		const bound = 8<<10 + 8<<10 + n*224 // the reserve counts, and each header
		if got := counter(w, b, "unexpected bytes, peak"); got > bound {
			w.Errorf("%d bytes are kept, the bound is %d", got, bound)
		}
		for i := range n {
			buf := make([]byte, 900)
			w.succeed(b, w.irecv(b, buf, uint64(i), exact))
			if !bytes.Equal(buf, pattern(900, byte(i))) {
				w.Fatalf("message %d arrived changed", i)
			}
		}
		for _, r := range sends {
			w.succeed(a, r)
		}
	})
}

func TestII5CopyLimitTurnsEagerIntoRendezvous(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		b := w.open(mx.WithCopyLimit(2000))
		toB := w.connect(a, b)
		for _, n := range []int{100, 2000, 2001, 4000} {
			before := counter(w, a, "sent rendezvous")
			send := w.sendUnexpected(a, b, pattern(n, 0), toB, 1)
			w.succeed(b, w.irecv(b, make([]byte, n), 1, exact))
			w.succeed(a, send)
			if got := counter(w, a, "sent rendezvous") > before; got != (n > 2000) {
				w.Errorf("%d bytes: rendezvous %v", n, got)
			}
		}
	})
}

func TestIII31EagerLimit(t *testing.T) {
	over(t, func(w *world) {
		a := w.open(mx.WithEagerLimit(1500))
		b := w.open()
		toB := w.connect(a, b)
		for _, n := range []int{1023, 1500, 1501} {
			before := counter(w, a, "sent rendezvous")
			recv := w.irecv(b, make([]byte, n), 1, exact)
			w.succeed(a, w.isend(a, pattern(n, 0), toB, 1))
			w.succeed(b, recv)
			if got := counter(w, a, "sent rendezvous") > before; got != (n > 1500) {
				w.Errorf("%d bytes: rendezvous %v", n, got)
			}
		}
	})
}

func TestContextIDBitsMustBeInTheMask(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		b := w.open(mx.WithContextID(8, 48))
		toB := w.connect(a, b)
		for _, mask := range []uint64{0, 0xff, 0x7f << 48} {
			_, err := b.Irecv(nil, 0, mask, nil)
			refused(w, err, mx.ErrBadMatchingForCtxID, "irecv", b.String())
		}
		for ctx := range uint64(3) {
			w.isend(a, []byte{byte(ctx)}, toB, ctx<<48|99)
		}
		for ctx := uint64(2); ctx < 3; ctx-- {
			buf := make([]byte, 1)
			w.succeed(b, w.irecv(b, buf, ctx<<48, 0xff<<48))
			if buf[0] != byte(ctx) {
				w.Errorf("context %d got the message of %d", ctx, buf[0])
			}
		}
		w.isend(a, []byte{3}, toB, 0xff<<48) // a wildcard over all contexts sees every id
		if st := w.arrived(b, 0, everything); st.MatchInfo != 0xff<<48 {
			w.Errorf("%+v", st)
		}
	})
}
