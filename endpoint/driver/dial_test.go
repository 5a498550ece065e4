package driver_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/transport"
	"gomx/transport/mem"
)

// wall is a transport that reaches nobody.
type wall struct {
	name  string
	says  error
	polls atomic.Int32
}

func (w *wall) Name() string { return w.name }

func (w *wall) Available() error { return nil }

func (w *wall) Open(transport.Open) (transport.Port, error) { return w, nil }

func (w *wall) Dial(_ context.Context, peer transport.Address) (transport.Link, error) {
	return nil, fmt.Errorf("%s: dial %v: %w", w.name, peer, w.says)
}

func (w *wall) Poll(transport.Handler) int {
	w.polls.Add(1)
	return 0
}

func (w *wall) Quiet() bool { return true }

func (w *wall) Diagnostics() []transport.Diagnostic { return nil }

func (w *wall) Close() error { return nil }

var errSlow = errors.New("10.0.0.8:20003: timed out")

// behind makes an endpoint try these before the network.
func behind(walls ...*wall) option {
	return func(c *driver.Config) {
		network := c.Transports
		c.Transports = nil
		for _, w := range walls {
			c.Transports = append(c.Transports, w)
		}
		c.Transports = append(c.Transports, network...)
	}
}

// among makes an endpoint use nothing else.
func among(walls ...*wall) option {
	return func(c *driver.Config) {
		c.Transports = nil
		behind(walls...)(c)
	}
}

func TestFailedDialIsDecidedByTheTransportThatShouldHaveWorked(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		absent, noRoute, refused := transport.ErrNoPeer, transport.ErrNoRoute, transport.ErrRefused
		for name, c := range map[string]struct {
			shm, tcp error
			code     endpoint.Code
			says     string // which of the two the reason has, in order
		}{
			"another host, port refused":  {absent, absent, endpoint.EndpointClosed, "tcp"},
			"another host, timed out":     {absent, errSlow, endpoint.EndpointUnreachable, "tcp"},
			"another host, wrong secret":  {absent, refused, endpoint.EndpointUnreachable, "tcp"},
			"another user, nobody there":  {refused, absent, endpoint.EndpointUnreachable, "shm"},
			"another user, timed out":     {refused, errSlow, endpoint.EndpointUnreachable, "shm tcp"},
			"this host, the second stays": {absent, noRoute, endpoint.EndpointClosed, "shm"},
			"no way at all":               {noRoute, noRoute, endpoint.EndpointUnreachable, "shm tcp"},
		} {
			w := &world{t: t}
			d := w.open(wait, among(&wall{name: "shm", says: c.shm}, &wall{name: "tcp", says: c.tcp}))
			if st := w.connectTo(d, 9); st.Code != c.code {
				t.Errorf("%s: %v, want %v", name, st.Code, c.code)
			}
			reason := d.Reason(board, 9)
			for _, medium := range []string{"shm", "tcp"} {
				said := strings.Contains(fmt.Sprint(reason), medium+": dial 02:00:7f:00:00:01/9")
				if want := strings.Contains(c.says, medium); said != want {
					t.Errorf("%s: the reason is %v", name, reason)
				}
			}
			want := driver.Peer{Address: transport.Address{NIC: board, Endpoint: 9}, Failure: reason, Eager: -1}
			if all := d.Peers(); len(all) != 1 || fmt.Sprint(all[0]) != fmt.Sprint(want) {
				t.Errorf("%s: peers %v, want %v", name, all, want)
			}
			w.close()
		}
	})
}

// connectTo returns how a connect to another endpoint of the board ended.
func (w *world) connectTo(d *driver.Endpoint, id uint32) endpoint.Status {
	w.t.Helper()
	h, err := d.Call(&endpoint.Calling{NIC: board, Endpoint: id}, false)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.wait(d, h)
}

func TestWhyAPreferredTransportWasNotTaken(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		a := w.open(wait, behind(&wall{name: "shm", says: transport.ErrRefused}))
		b := w.open(wait)
		w.connect(a, 1)
		peers := a.Peers()
		if len(peers) != 1 || peers[0].Medium != "mem" || peers[0].Address.Endpoint != 1 || peers[0].Failure != nil {
			t.Fatalf("peers %v", peers)
		}
		if why := peers[0].Instead; !errors.Is(why, transport.ErrRefused) || !strings.Contains(why.Error(), "shm") {
			t.Errorf("not over shm because %v", why)
		}
		peers = b.Peers()
		if len(peers) != 1 || peers[0].Medium != "mem" || peers[0].Address.Endpoint != 0 || peers[0].Instead != nil {
			t.Errorf("the other side's peers: %v", peers)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if st := w.connectTo(a, 1); st.Code != endpoint.EndpointClosed && st.Code != endpoint.EndpointUnreachable {
			t.Errorf("%v", st.Code)
		}
		if peers := a.Peers(); len(peers) != 1 || peers[0].Medium != "mem" || peers[0].Failure == nil {
			t.Errorf("after the peer closed: %v", peers)
		}
	})
}

// reluctant is a network whose first dials fail.
type reluctant struct {
	transport.Transport
	says error
	left atomic.Int32 // dials that are to fail yet, negative for those that did not
}

type reluctantPort struct {
	transport.Port
	of *reluctant
}

func (r *reluctant) Open(o transport.Open) (transport.Port, error) {
	p, err := r.Transport.Open(o)
	return &reluctantPort{p, r}, err
}

func (p *reluctantPort) Dial(ctx context.Context, peer transport.Address) (transport.Link, error) {
	if p.of.left.Add(-1) >= 0 {
		return nil, fmt.Errorf("mem: dial %v: %w", peer, p.of.says)
	}
	return p.Port.Dial(ctx, peer)
}

func TestSlowPeerIsDialledAgainOverTheSameTransport(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		other := &wall{name: "tcp", says: errors.New("never to be dialled")}
		r := &reluctant{says: transport.ErrSlow}
		r.left.Store(3)
		a := w.open(wait, func(c *driver.Config) {
			r.Transport = c.Transports[0]
			c.Transports = []transport.Transport{r, other}
		})
		w.open(wait)
		if st := w.connectTo(a, 1); st.Code != endpoint.Success {
			t.Errorf("%v", st.Code)
		}
		if p := a.Peers(); len(p) != 1 || p[0].Medium != "mem" || p[0].Instead != nil {
			t.Errorf("peers %v", p)
		}
	})
}

func TestPeerThatOpensWhileItIsDialledIsReachedOverThePreferredTransport(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		preferred, other := &reluctant{says: transport.ErrNoPeer}, new(reluctant)
		preferred.left.Store(1)
		two := func(c *driver.Config) {
			preferred.Transport, other.Transport = c.Transports[0], mem.NewNetwork(mem.Options{})
			c.Transports = []transport.Transport{preferred, other}
		}
		a := w.open(wait, two)
		second := other.Transport
		w.open(wait, func(c *driver.Config) { c.Transports = append(c.Transports, second) })
		w.connect(a, 1)
		if preferred.left.Load() != -1 || other.left.Load() != -1 {
			t.Errorf("of the dials over the preferred transport %d did not fail, over the other one %d, want 1 each", -preferred.left.Load(), -other.left.Load())
		}
		if p := a.Peers(); len(p) != 1 || p[0].Instead != nil {
			t.Errorf("peers %v", p)
		}
	})
}
