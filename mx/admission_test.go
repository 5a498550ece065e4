package mx_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gomx/mx"
)

// doorman admits those whose data begins with "yes", and repeats it.
func doorman(r *mx.ConnectionRequest) (bool, []byte) {
	return strings.HasPrefix(string(r.Data), "yes"), r.Data
}

func TestAdmit(t *testing.T) {
	over(t, func(w *world) {
		b := w.open(mx.Passive())
		if err := b.Admit(doorman); err != nil {
			w.Fatal(err)
		}
		var calls []*caller
		for i := range 20 {
			calls = append(calls, w.call(noContext, w.open(), b, []string{"yes", "no"}[i%2]))
		}
		for i, c := range calls {
			if w.ends(c); i%2 == 0 && (c.err != nil || c.answer != "yes") {
				w.Errorf("%d: %q, %v", i, c.answer, c.err)
			}
			if bad, ok := errors.AsType[*mx.RejectedError](c.err); i%2 == 1 && (!ok || string(bad.Data) != "no") {
				w.Errorf("%d: %v", i, c.err)
			}
		}
		if _, err := b.Listen(); !errors.Is(err, mx.ErrBusy) {
			w.Errorf("listen beside an admission function: %v", err)
		}
		if err := b.Admit(func(*mx.ConnectionRequest) (bool, []byte) { return false, make([]byte, 2*mx.MaxConnectData) }); err != nil {
			w.Fatal(err)
		}
		c := w.ends(w.call(noContext, w.open(), b, "yes"))
		if bad, ok := errors.AsType[*mx.RejectedError](c.err); !ok || len(bad.Data) != mx.MaxConnectData {
			w.Errorf("another function: %v", c.err)
		}
		if err := b.Admit(nil); err != nil {
			w.Fatal(err)
		}
		if c := w.ends(w.call(noContext, w.open(), b, "no")); c.err != nil || c.answer != "" {
			w.Errorf("nobody is asked: %q, %v", c.answer, c.err)
		}
		if err := b.Admit(doorman); err != nil {
			w.Fatal(err)
		}
		if c := w.ends(w.call(noContext, w.open(), b, "yes!")); c.err != nil || c.answer != "yes!" {
			w.Errorf("asked again: %q, %v", c.answer, c.err)
		}
	})
}

// TestAdmitsACrowd: whoever comes while nothing progresses is decided about all the same, however small the backlog.
func TestAdmitsACrowd(t *testing.T) {
	over(t, func(w *world) {
		b := w.open(mx.WithBacklog(1))
		if err := b.Admit(doorman); err != nil {
			w.Fatal(err)
		}
		if err := b.DisableProgression(); err != nil {
			w.Fatal(err)
		}
		var calls []*caller
		for range 20 {
			calls = append(calls, w.call(noContext, w.open(), b, "yes"))
		}
		time.Sleep(50 * time.Millisecond) // they come
		if err := b.ReenableProgression(); err != nil {
			w.Fatal(err)
		}
		for _, c := range calls {
			if w.ends(c); c.err != nil {
				w.Error(c.err)
			}
		}
		if n := counter(w, b, "connects refused for a full backlog"); n != 0 {
			w.Errorf("%d were refused", n)
		}
	})
}

// TestAdmissionCalls: the function calls the endpoint, which may not be closed there.
func TestAdmissionCalls(t *testing.T) {
	over(t, func(w *world) {
		a, b, c := w.open(), w.open(), w.open()
		third := w.name(c)
		err := b.Admit(func(r *mx.ConnectionRequest) (bool, []byte) {
			if err := b.Close(); !errors.Is(err, mx.ErrCloseInHandler) {
				w.Errorf("close: %v", err)
			}
			if _, err := b.Iconnect(third.NIC, third.Endpoint, third.Filter, 1, nil); err != nil {
				w.Errorf("iconnect: %v", err)
			}
			if !strings.Contains(stages(b), "connection request") {
				w.Errorf("pending: %s", stages(b))
			}
			return true, []byte(r.String())
		})
		if err != nil {
			w.Fatal(err)
		}
		called := w.ends(w.call(noContext, a, b, ""))
		if called.err != nil || called.answer != a.String() {
			w.Errorf("%q, %v", called.answer, called.err)
		}
		if st, done, err := b.WaitAny(bound, 1, exact); !done || err != nil || st.Code != mx.StatusSuccess {
			w.Errorf("the connect of the function: %+v, %v, %v", st, done, err)
		}
	})
}

// TestAdmissionPanics: the peer is rejected, the panic is the caller's who makes progress, and the next peer is asked about.
func TestAdmissionPanics(t *testing.T) {
	w := newWorld(t, "mem")
	a, b := w.open(), w.open(mx.WithSpin(time.Hour))
	times := 0
	err := b.Admit(func(*mx.ConnectionRequest) (bool, []byte) {
		if times++; times == 1 {
			panic("oh")
		}
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	end := w.irecv(b, make([]byte, 1), 1, exact)
	thrown := make(chan any, 1)
	wait := func() {
		defer func() { thrown <- recover() }()
		w.succeed(b, end)
	}
	go wait()
	waitBlocked(t, 1) // it polls, and goes on to: in the endpoint's own goroutine the panic would end the process
	if c := w.ends(w.call(noContext, a, b, "")); !errors.Is(c.err, mx.StatusRejected) {
		t.Errorf("of the first: %v", c.err)
	}
	if v := <-thrown; v != "oh" {
		t.Fatalf("thrown: %v", v)
	}
	go wait()
	c := w.ends(w.call(noContext, a, b, ""))
	if c.err != nil {
		t.Fatalf("of the second: %v", c.err)
	}
	w.succeed(a, w.isend(a, []byte{1}, c.addr, 1))
	if v := <-thrown; v != nil {
		t.Errorf("thrown: %v", v)
	}
}
