package mx_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mx"
)

// name returns what Connect needs of one endpoint.
func (w *world) name(ep *mx.Endpoint) mx.PeerName { return w.names(ep)[0] }

// listen makes an endpoint a passive one.
func (w *world) listen(ep *mx.Endpoint) *mx.Listener {
	w.Helper()
	l, err := ep.Listen()
	if err != nil {
		w.Fatal(err)
	}
	return l
}

// caller waits for a ConnectWith that runs beside the test.
type caller struct {
	addr   mx.EndpointAddr
	answer string
	err    error
	done   chan struct{}
}

func (w *world) call(ctx context.Context, from, to *mx.Endpoint, data string) *caller {
	c, peer := &caller{done: make(chan struct{})}, w.name(to)
	go func() {
		defer close(c.done)
		var answer []byte
		c.addr, answer, c.err = from.ConnectWith(ctx, peer, []byte(data))
		c.answer = string(answer)
	}()
	return c
}

func (w *world) ends(c *caller) *caller {
	w.Helper()
	select {
	case <-c.done:
	case <-time.After(bound):
		w.Fatal("the connect does not end")
	}
	return c
}

func (w *world) request(l *mx.Listener) *mx.ConnectionRequest {
	w.Helper()
	r, err := l.Wait(noContext, bound)
	if r == nil || err != nil {
		w.Fatalf("no connection request: %v", err)
	}
	return r
}

func (w *world) eventually(what string, f func() bool) {
	w.Helper()
	for end := time.Now().Add(bound); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("never: %s", what)
		}
	}
}

// swap sends a message each way.
func (w *world) swap(a, b *mx.Endpoint, toB, toA mx.EndpointAddr) {
	w.Helper()
	ra, rb := w.irecv(a, make([]byte, 1), 7, exact), w.irecv(b, make([]byte, 1), 7, exact)
	w.succeed(a, w.isend(a, []byte{1}, toB, 7))
	w.succeed(b, w.isend(b, []byte{2}, toA, 7))
	w.succeed(a, ra)
	w.succeed(b, rb)
}

func TestListener(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.open(mx.Passive())
		l := w.listen(b)
		if r, err := l.Wait(noContext, 0); r != nil || err != nil {
			w.Fatalf("nobody has called: %v, %v", r, err)
		}
		c := w.call(noContext, a, b, "hello")
		r := w.request(l)
		nic, id := place(w, a)
		if r.NIC != nic || r.Endpoint != id || string(r.Data) != "hello" || r.Transport != w.medium {
			w.Errorf("request %+v", r)
		}
		switch who := r.Credentials; {
		case w.medium == "tcp" && (!who.Remote.IsValid() || who.UID != -1 || who.Secret || who.Certificates != nil):
			w.Errorf("credentials %+v", who)
		case (w.medium == "shm" || w.medium == "mem") && (who.UID != os.Getuid() || who.PID != os.Getpid()):
			w.Errorf("credentials %+v", who)
		}
		addr, err := r.Accept([]byte("welcome"))
		if err != nil {
			w.Fatal(err)
		}
		if w.ends(c); c.err != nil || c.answer != "welcome" {
			w.Fatalf("answer %q, %v", c.answer, c.err)
		}
		w.swap(a, b, c.addr, addr)
		if _, err := r.Accept(nil); !errors.Is(err, mx.ErrBadRequest) || !strings.Contains(err.Error(), "answered") {
			w.Errorf("accepted twice: %v", err)
		}
		if err := r.Reject(nil); !errors.Is(err, mx.ErrBadRequest) {
			w.Errorf("rejected after: %v", err)
		}
		if again := w.ends(w.call(noContext, a, b, "x")); again.addr != c.addr || again.answer != "welcome" || again.err != nil {
			w.Errorf("again: %+v", again)
		}
		if r, err := l.Wait(noContext, 0); r != nil || err != nil {
			w.Errorf("asked again: %v, %v", r, err)
		}
	})
}

// An endpoint with contexts asks for each of them, with the same data. If one is refused, none is connected.
func TestListenerAndContexts(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.several(make([]string, 3)), w.open(mx.Passive())
		l := w.listen(b)
		_, id := place(w, a[0])
		ask := func() *mx.ConnectionRequest {
			r := w.request(l)
			if r.Endpoint < id || r.Endpoint >= id+3 || string(r.Data) != "password" {
				w.Errorf("request of %d with %q", r.Endpoint, r.Data)
			}
			return r
		}
		refused := w.call(noContext, a[0], b, "password")
		addr, err := ask().Accept(nil)
		if err != nil {
			w.Fatal(err)
		}
		watch, err := b.Watch(addr, 1, nil)
		if err == nil {
			err = ask().Reject([]byte("no"))
		}
		if err != nil {
			w.Fatal(err)
		}
		w.ends(refused)
		if _, is := errors.AsType[*mx.RejectedError](refused.err); !is {
			w.Errorf("%v", refused.err)
		}
		w.done(b, watch)
		c := w.call(noContext, a[0], b, "password")
		for range a {
			if _, err := ask().Accept(nil); err != nil {
				w.Error(err)
			}
		}
		if w.ends(c); c.err != nil || c.addr.Contexts() != 1 {
			w.Errorf("%+v", c)
		}
	})
}

func TestReject(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.open()
		l := w.listen(b)
		for _, data := range []string{"no", "", strings.Repeat("x", mx.MaxConnectData), "\x00\x01"} {
			c := w.call(noContext, a, b, data)
			r := w.request(l)
			if err := r.Reject(r.Data); err != nil {
				w.Fatal(err)
			}
			w.ends(c)
			bad, ok := errors.AsType[*mx.RejectedError](c.err)
			if !ok || string(bad.Data) != data || !errors.Is(c.err, mx.StatusRejected) || !errors.Is(c.err, mx.ErrConnectionFailed) {
				w.Errorf("%q: %v", data, c.err)
			}
			if data == "no" && !strings.Contains(c.err.Error(), `"no"`) || strings.Contains(c.err.Error(), "\x00") {
				w.Errorf("text %q", c.err)
			}
		}
		var all sync.WaitGroup
		all.Go(func() {
			_, err := a.ConnectAll(noContext, w.names(b))
			if bad, ok := errors.AsType[*mx.RejectedError](err); !ok || string(bad.Data) != "all" {
				w.Errorf("ConnectAll: %v", err)
			}
		})
		if err := w.request(l).Reject([]byte("all")); err != nil {
			w.Error(err)
		}
		all.Wait()
	})
}

func TestIconnectWith(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.open()
		l := w.listen(b)
		answer := make([]byte, 4)
		r, err := a.IconnectWith(w.name(b), []byte("hello"), answer, 9, "ctx")
		if err != nil {
			w.Fatal(err)
		}
		if _, err := w.request(l).Accept([]byte("welcome")); err != nil {
			w.Fatal(err)
		}
		st, done, err := a.Wait(r, bound)
		if !done || err != nil || st.Code != mx.StatusSuccess || st.MsgLength != 7 || st.XferLength != 4 || string(answer) != "welc" || st.Context != "ctx" {
			w.Errorf("%+v, %v, %q, %v", st, done, answer, err)
		}
	})
}

func stages(ep *mx.Endpoint) (all string) {
	for _, p := range ep.Pending() {
		all += p.String() + "\n"
	}
	return all
}

// TestConnectionRequestsWait: a request stands in Pending on both sides, ends with its time, and is taken back by who gives up.
func TestConnectionRequestsWait(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	over(t, func(w *world) {
		a, b, hasty := w.open(), w.open(), w.open(mx.WithAnswerTimeout(200*time.Millisecond))
		l := w.listen(hasty)
		var late *caller
		var r *mx.ConnectionRequest
		for end := time.Now().Add(bound); r == nil && time.Now().Before(end); { // on a busy machine the time may be over before it is taken
			late = w.call(noContext, a, hasty, "")
			r, _ = l.Wait(noContext, time.Second)
		}
		if w.ends(late); !errors.Is(late.err, mx.StatusNotAnswered) {
			w.Errorf("not answered: %v", late.err)
		}
		if _, err := r.Accept(nil); !errors.Is(err, mx.ErrBadRequest) {
			w.Errorf("accepted too late: %v", err)
		}
		l = w.listen(b)
		ctx, stop := context.WithCancel(context.Background())
		gone := w.call(ctx, a, b, "")
		r = w.request(l)
		if s := stages(b); !strings.Contains(s, "connection request from") || !strings.Contains(s, "accept or reject") {
			w.Errorf("pending there: %s", s)
		}
		w.eventually("the peer knows that it is asked about", func() bool { return strings.Contains(stages(a), "program at the peer") })
		stop()
		if w.ends(gone); !errors.Is(gone.err, context.Canceled) {
			w.Errorf("given up: %v", gone.err)
		}
		w.eventually("the request is over", func() bool { return stages(b) == "" })
		if _, err := r.Accept(nil); !errors.Is(err, mx.ErrBadRequest) {
			w.Errorf("accepted of one who has given up: %v", err)
		}
	})
}

func TestBacklog(t *testing.T) {
	over(t, func(w *world) {
		b := w.open(mx.WithBacklog(2))
		l := w.listen(b)
		var calls []*caller
		for range 4 {
			calls = append(calls, w.call(noContext, w.open(), b, ""))
		}
		w.eventually("the requests have come", func() bool {
			return counter(w, b, "connection requests") == 2 && counter(w, b, "connects refused for a full backlog") == 2
		})
		for range 2 {
			if _, err := w.request(l).Accept(nil); err != nil {
				w.Error(err)
			}
		}
		full := 0
		for _, c := range calls {
			if w.ends(c); errors.Is(c.err, mx.StatusBacklogFull) {
				full++
			} else if c.err != nil {
				w.Error(c.err)
			}
		}
		if full != 2 {
			w.Errorf("%d were refused", full)
		}
	})
}

// TestListenerEnds: Close refuses who waits and who comes, and ends calls of Wait.
func TestListenerEnds(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.open()
		l := w.listen(b)
		yes := func(*mx.ConnectionRequest) (bool, []byte) { return true, nil }
		_, again := b.Listen()
		for _, err := range []error{again, b.Admit(yes), b.Admit(nil)} {
			if !errors.Is(err, mx.ErrBusy) {
				w.Errorf("beside a listener: %v", err)
			}
		}
		c := w.call(noContext, a, b, "")
		w.request(l)
		waiting := make(chan error)
		go func() { _, err := l.Wait(noContext, mx.Infinite); waiting <- err }()
		time.Sleep(10 * time.Millisecond)
		l.Close()
		l.Close()
		if w.ends(c); !errors.Is(c.err, mx.StatusNotListening) {
			w.Errorf("who waits: %v", c.err)
		}
		if err := <-waiting; !errors.Is(err, mx.ErrBadEndpoint) {
			w.Errorf("a Wait: %v", err)
		}
		if _, err := l.Ready(0, nil); !errors.Is(err, mx.ErrBadEndpoint) {
			w.Errorf("ready: %v", err)
		}
		if c = w.ends(w.call(noContext, a, b, "")); !errors.Is(c.err, mx.StatusNotListening) {
			w.Errorf("who comes: %v", c.err)
		}
		if err := b.Admit(nil); err != nil {
			w.Fatal(err)
		}
		if c = w.ends(w.call(noContext, a, b, "")); c.err != nil {
			w.Errorf("after Admit(nil): %v", c.err)
		}
	})
}

// TestEndpointClosesWithRequests ends the wait of both sides.
func TestEndpointClosesWithRequests(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.open()
		l := w.listen(b)
		c := w.call(noContext, a, b, "")
		r := w.request(l)
		waiting := make(chan error)
		go func() { _, err := l.Wait(noContext, mx.Infinite); waiting <- err }()
		time.Sleep(10 * time.Millisecond)
		b.Close()
		if err := <-waiting; !errors.Is(err, mx.ErrBadEndpoint) {
			w.Errorf("a Wait: %v", err)
		}
		if w.ends(c); !errors.Is(c.err, mx.ErrConnectionFailed) {
			w.Errorf("the endpoint was closed: %v", c.err)
		}
		if _, err := r.Accept(nil); !errors.Is(err, mx.ErrBadEndpoint) {
			w.Errorf("accepted by a closed endpoint: %v", err)
		}
		l.Close()
	})
}

// TestConnectingEndDies: a request is over when its peer has closed.
func TestConnectingEndDies(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.open()
		l := w.listen(b)
		w.call(noContext, a, b, "")
		r := w.request(l)
		a.Close()
		w.eventually("the request is over", func() bool { return len(b.Pending()) == 0 })
		if _, err := r.Accept(nil); !errors.Is(err, mx.ErrBadRequest) {
			w.Error(err)
		}
	})
}

// TestReadyInAQueue: one queue over the listeners of two endpoints.
func TestReadyInAQueue(t *testing.T) {
	over(t, func(w *world) {
		a, b, c := w.open(), w.open(), w.open()
		q, err := mx.NewQueue(b, c)
		if err != nil {
			w.Fatal(err)
		}
		defer q.Close()
		ls := []*mx.Listener{w.listen(b), w.listen(c)}
		for i, l := range ls {
			r, err := l.Ready(uint64(i), nil)
			if err == nil {
				err = q.Add(r)
			}
			if err != nil {
				w.Fatal(err)
			}
			if p := r.Endpoint().Pending(); len(p) != 1 || p[0].Kind != "ready" || p[0].Stage != "waits for a connection request" {
				w.Errorf("pending: %v", p)
			}
		}
		callers := []*caller{w.call(noContext, a, b, "b"), w.call(noContext, a, c, "c")}
		done := make([]mx.Completion, 1)
		for range callers {
			if n, err := q.Wait(noContext, done, bound); n != 1 || err != nil {
				w.Fatalf("%d, %v", n, err)
			}
			i := done[0].Status.MatchInfo
			r := w.request(ls[i])
			if want := []string{"b", "c"}[i]; string(r.Data) != want {
				w.Errorf("listener %d has %q", i, r.Data)
			}
			if _, err := r.Accept(r.Data); err != nil {
				w.Error(err)
			}
			if w.ends(callers[i]); callers[i].err != nil || callers[i].answer != string(r.Data) {
				w.Errorf("%+v", callers[i])
			}
		}
	})
}

func TestBadConnectData(t *testing.T) {
	w := newWorld(t, "mem")
	a, b := w.open(), w.open()
	l := w.listen(b)
	long := make([]byte, mx.MaxConnectData+1)
	if c := w.ends(w.call(noContext, a, b, string(long))); !errors.Is(c.err, mx.ErrBadParamVal) {
		t.Error(c.err)
	}
	if _, err := a.IconnectWith(w.name(b), long, nil, 0, nil); !errors.Is(err, mx.ErrBadParamVal) {
		t.Error(err)
	}
	c := w.call(noContext, a, b, "")
	r := w.request(l)
	if _, err := r.Accept(long); !errors.Is(err, mx.ErrBadParamVal) {
		t.Error(err)
	}
	if err := r.Reject(long); !errors.Is(err, mx.ErrBadParamVal) {
		t.Error(err)
	}
	if _, err := r.Accept(long[1:]); err != nil {
		t.Error(err)
	}
	if w.ends(c); len(c.answer) != mx.MaxConnectData || c.err != nil {
		t.Error(c.err)
	}
	for _, p := range []mx.Param{mx.WithBacklog(0), mx.WithBacklog(1<<16 + 1), mx.WithAnswerTimeout(0)} {
		if _, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 0, p); !errors.Is(err, mx.ErrBadParamVal) {
			t.Errorf("%v: %v", p, err)
		}
	}
}
