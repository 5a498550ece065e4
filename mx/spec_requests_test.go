package mx_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"gomx/mx"
)

func TestVI11IbufferedChangesNothing(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		send := w.isend(a, pattern(10, 0), toB, 1)
		for range 5 {
			if ok, err := a.Ibuffered(send); !ok || err != nil {
				w.Fatal(ok, err)
			}
		}
		w.succeed(a, send)
		w.succeed(b, w.irecv(b, make([]byte, 10), 1, exact))
	})
}

func TestVI11IbufferedRefusesReceives(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		r := w.irecv(a, nil, 1, exact)
		_, err := a.Ibuffered(r)
		refused(w, err, mx.ErrBadRequest, "ibuffered", a.String())
	})
}

func TestVI11UnmatchedRendezvousIsNotBuffered(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		send := w.sendUnexpected(a, b, pattern(200_000, 0), toB, 1)
		if ok, err := a.Ibuffered(send); ok || err != nil {
			w.Error(ok, err)
		}
		w.succeed(b, w.irecv(b, make([]byte, 200_000), 1, exact))
		w.until("buffered", func() bool { ok, _ := a.Ibuffered(send); return ok })
		w.succeed(a, send)
	})
}

func TestVI21TestReleasesTheRequest(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		recv, err := b.Irecv(make([]byte, 4), 9, exact, "context")
		if err != nil {
			w.Fatal(err)
		}
		st, ok, err := b.Test(recv)
		if ok || err != nil || st != (mx.Status{}) {
			w.Errorf("pending: %+v, %v, %v", st, ok, err)
		}
		w.isend(a, pattern(4, 0), toB, 9)
		w.until("received", func() bool {
			st, ok, err = b.Test(recv)
			return ok || err != nil
		}, a)
		if err != nil || st.Code != mx.StatusSuccess || st.Context != "context" || st.MatchInfo != 9 || st.XferLength != 4 {
			w.Errorf("%+v, %v", st, err)
		}
		_, _, err = b.Test(recv)
		refused(w, err, mx.ErrBadRequest, "test", b.String())
	})
}

// TestLookCollects: it finds what has completed in the progress that others make, once.
func TestLookCollects(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		recv, err := b.Irecv(make([]byte, 4), 9, exact, "context")
		if err != nil {
			w.Fatal(err)
		}
		st, ok, err := b.Look(recv)
		if ok || err != nil || st != (mx.Status{}) {
			w.Errorf("pending: %+v, %v, %v", st, ok, err)
		}
		w.isend(a, pattern(4, 0), toB, 9)
		w.until("received", func() bool {
			if err := b.Progress(); err != nil {
				w.Fatal(err)
			}
			st, ok, err = b.Look(recv)
			return ok || err != nil
		}, a)
		if err != nil || st.Code != mx.StatusSuccess || st.Context != "context" || st.MatchInfo != 9 || st.XferLength != 4 {
			w.Errorf("%+v, %v", st, err)
		}
	})
}

// stale are all calls that take a request.
var stale = map[string]func(ep *mx.Endpoint, r mx.Request) error{
	"ibuffered":           func(ep *mx.Endpoint, r mx.Request) error { _, err := ep.Ibuffered(r); return err },
	"test":                func(ep *mx.Endpoint, r mx.Request) error { _, _, err := ep.Test(r); return err },
	"look":                func(ep *mx.Endpoint, r mx.Request) error { _, _, err := ep.Look(r); return err },
	"wait":                func(ep *mx.Endpoint, r mx.Request) error { _, _, err := ep.Wait(r, bound); return err },
	"context":             func(ep *mx.Endpoint, r mx.Request) error { _, err := ep.Context(r); return err },
	"cancel":              func(ep *mx.Endpoint, r mx.Request) error { _, err := ep.Cancel(r); return err },
	"forget":              func(ep *mx.Endpoint, r mx.Request) error { return ep.Forget(r) },
	"set request timeout": func(ep *mx.Endpoint, r mx.Request) error { return ep.SetRequestTimeout(r, time.Second) },
}

func TestII6StaleForeignAndZeroRequests(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		old := w.irecv(a, nil, 1, exact)
		if ok, err := a.Cancel(old); !ok || err != nil {
			w.Fatal(ok, err)
		}
		fresh := w.irecv(a, nil, 2, exact) // may have the same place
		foreign := w.irecv(b, nil, 3, exact)
		gone := w.isend(a, nil, toB, 4)
		w.succeed(a, gone)
		for name, call := range stale {
			for kind, r := range map[string]mx.Request{"stale": old, "foreign": foreign, "collected": gone, "zero": {}} {
				if kind == "zero" && name == "set request timeout" {
					continue // it means the endpoint
				}
				err := call(a, r)
				refused(w, err, mx.ErrBadRequest, name, a.String())
				if w.Failed() {
					w.Fatalf("%s of a %s request", name, kind)
				}
			}
		}
		for ep, r := range map[*mx.Endpoint]mx.Request{a: fresh, b: foreign} {
			if ok, err := ep.Cancel(r); !ok || err != nil {
				w.Errorf("the good request suffered: %v, %v", ok, err)
			}
		}
	})
}

func TestVI22WaitTimesOutWithoutAnError(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		recv := w.irecv(a, nil, 1, exact)
		for _, timeout := range []time.Duration{0, time.Nanosecond, time.Millisecond, 5 * time.Millisecond} {
			if _, ok, err := a.Wait(recv, timeout); ok || err != nil {
				w.Errorf("%v: %v, %v", timeout, ok, err)
			}
		}
		w.isend(a, nil, a.Addr(), 1)
		w.succeed(a, recv) // it is still good
	})
}

func TestVI22HugeTimeoutsDoNotOverflow(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for _, timeout := range []time.Duration{72 * time.Minute, 50 * 24 * time.Hour, 200 * 365 * 24 * time.Hour, mx.Infinite - 1, mx.Infinite} {
			recv := w.irecv(b, nil, 1, exact)
			c := start(func() (bool, error) { _, ok, err := b.Wait(recv, timeout); return ok, err })
			send := w.isend(a, nil, toB, 1)
			if o := receive(w, timeout.String(), c); !o.ok || o.err != nil {
				w.Errorf("%v: %v, %v", timeout, o.ok, o.err)
			}
			if _, ok, err := a.Wait(send, timeout); !ok || err != nil {
				w.Errorf("%v: %v, %v", timeout, ok, err)
			}
		}
	})
}

func TestVI22NegativeTimeoutPollsOnce(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		recv := w.irecv(a, nil, 1, exact)
		if _, ok, err := a.Wait(recv, -time.Second); ok || err != nil {
			w.Error(ok, err)
		}
	})
}

func TestVI22FinishTellsSuccessFromTheRest(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		recv := w.irecv(a, make([]byte, 1), 1, exact)
		for _, timeout := range []time.Duration{0, time.Millisecond} {
			if err := a.Finish(recv, timeout); !errors.Is(err, mx.ErrTimeout) {
				w.Errorf("nothing has come in %v: %v", timeout, err)
			}
		}
		send := w.isend(a, pattern(2, 0), a.Addr(), 1)
		if err := a.Finish(send, bound); err != nil {
			w.Error(err)
		}
		var failed *mx.StatusError
		if err := a.Finish(recv, bound); !errors.Is(err, mx.StatusTruncated) || !errors.As(err, &failed) || failed.Status.XferLength != 1 {
			w.Errorf("a message of 2 bytes received into 1: %v", err)
		}
		for _, r := range []mx.Request{send, recv, {}} {
			refused(w, a.Finish(r, bound), mx.ErrBadRequest, "mx: ", "finish")
		}
	})
}

func TestVI22WaitContextEndsWithTheContext(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		recv := w.irecv(a, nil, 1, exact)
		ctx, cancel := context.WithCancelCause(context.Background())
		calls := map[string]func() (bool, error){
			"WaitContext":    func() (bool, error) { _, err := a.WaitContext(ctx, recv); return false, err },
			"PeekContext":    func() (bool, error) { _, ok, err := a.PeekContext(ctx); return ok, err },
			"WaitAnyContext": func() (bool, error) { _, ok, err := a.WaitAnyContext(ctx, 0, everything); return ok, err },
			"ProbeContext":   func() (bool, error) { _, ok, err := a.ProbeContext(ctx, 0, everything); return ok, err },
		}
		waiting := map[string]<-chan outcome{}
		for name, call := range calls {
			waiting[name] = start(call)
		}
		cancel(errors.New("enough"))
		for name, c := range waiting {
			o := receive(w, name, c)
			if o.ok || !errors.Is(o.err, context.Canceled) {
				w.Errorf("%s: %v, %v", name, o.ok, o.err)
			}
		}
		for name, call := range calls { // now it has ended before the call
			if o := receive(w, name, start(call)); o.ok || !errors.Is(o.err, context.Canceled) {
				w.Errorf("%s afterwards: %v, %v", name, o.ok, o.err)
			}
		}
		w.isend(a, nil, a.Addr(), 1)
		w.succeed(a, recv) // the request stayed pending
	})
}

func TestVI22WaitContextDeadline(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		recv := w.irecv(a, nil, 1, exact)
		c := start(func() (bool, error) { _, err := a.WaitContext(ctx, recv); return false, err })
		if err := receive(w, "WaitContext", c).err; !errors.Is(err, context.DeadlineExceeded) {
			w.Error(err)
		}
	})
}

func TestVI22WaitContextGivesTheStatusAsAnError(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		ctx, cancel := context.WithTimeout(context.Background(), bound)
		defer cancel()
		recv := w.irecv(a, make([]byte, 1), 1, exact)
		w.isend(a, make([]byte, 2), a.Addr(), 1)
		st, err := a.WaitContext(ctx, recv)
		var full *mx.StatusError
		if !errors.Is(err, mx.StatusTruncated) || !errors.As(err, &full) || full.Status.MsgLength != 2 || st.XferLength != 1 {
			w.Errorf("%+v, %v", st, err)
		}
		recv = w.irecv(a, make([]byte, 2), 1, exact)
		w.isend(a, make([]byte, 2), a.Addr(), 1)
		if _, err := a.WaitContext(ctx, recv); err != nil {
			w.Error(err)
		}
	})
}

func TestVI4ContextBeforeAndAfterCompletion(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		mine := &struct{ n int }{7}
		recv, err := b.Irecv(nil, 1, exact, mine)
		if err != nil {
			w.Fatal(err)
		}
		if v, err := b.Context(recv); err != nil || v != mine {
			w.Errorf("pending: %v, %v", v, err)
		}
		w.isend(a, nil, toB, 1)
		r, ok, err := b.Peek(bound)
		if err != nil || !ok || r != recv {
			w.Fatal(r, ok, err)
		}
		if v, err := b.Context(r); err != nil || v != mine {
			w.Errorf("complete: %v, %v", v, err)
		}
		if st := w.succeed(b, recv); st.Context != mine {
			w.Errorf("collected: %v", st.Context)
		}
	})
}
