package mx

import (
	"context"
	"errors"
	"slices"
	"time"

	"gomx/endpoint"
	"gomx/transport/nic"
)

// PeerName is what Connect needs to know of an endpoint.
type PeerName struct {
	NIC      uint64
	Endpoint uint32
	Filter   uint32
}

// connectsAtOnce is how many connects of ConnectAll are under way at a time, beside those that have not answered within connectsPause.
const (
	connectsAtOnce = 64
	connectsPause  = 250 * time.Millisecond
)

// ConnectAll connects to all of the peers, many at a time, until ctx ends, and returns their addresses in the same order: what Connect
// would return for each, and the zero EndpointAddr for those that failed. The error is nil, or a ConnectAllError with those of all that
// failed, each the *Error that ConnectContext would return, which names its peer: ErrBadEndpoint if the endpoint is closed meanwhile, ErrTimeout
// around the error of ctx when that has ended, or if Wakeup is called. No error calls the error handler. ctx may be nil. A peer that is named twice
// has the same address twice. MX does not have it. Safe from any goroutine.
func (ep *Endpoint) ConnectAll(ctx context.Context, peers []PeerName) ([]EndpointAddr, error) {
	ctx, leave := ep.abroad.enter(ctx)
	defer leave()
	c := connects{ep: ep, peers: peers, addrs: make([]EndpointAddr, len(peers)), whole: true}
	c.run(ctx)
	if c.failures == nil {
		return c.addrs, nil
	}
	return c.addrs, c.failures
}

// run connects with all. Wakeup ends ctx, which is that of enter.
func (c *connects) run(ctx context.Context) {
	c.start = time.Now()
	for most := connectsAtOnce; c.began < len(c.peers) || len(c.reqs) > 0; c.connectRest(ctx) {
		for c.began < len(c.peers) && len(c.reqs) < most {
			c.begin(c.began, c.ep.dir.Actual(nic.ID(c.peers[c.began].NIC)))
			c.began++
		}
		pause := Infinite
		if c.began < len(c.peers) {
			pause = connectsPause
		}
		switch some, err := c.collect(ctx, pause); {
		case context.Cause(ctx) == errWoken:
			c.giveUp(nil)
		case err != nil:
			c.giveUp(err)
		case !some:
			most = len(c.reqs) + connectsAtOnce // so that those who do not answer keep nobody out
		}
	}
}

// ConnectAllError has the error of each peer of a ConnectAll, in their order: nil for those that are connected.
type ConnectAllError []error

// Error returns the first eight errors, a line each, and how many more there are.
func (e ConnectAllError) Error() string {
	all := e.Unwrap()
	if len(all) == 0 {
		return "no connect has failed"
	}
	return errors.Join(all[:min(len(all), mostNamed)]...).Error() + andMore("\n", len(all))
}

// Unwrap returns the errors, for errors.Is and errors.As.
func (e ConnectAllError) Unwrap() []error {
	return slices.DeleteFunc(slices.Clone(e), func(err error) bool { return err == nil })
}

// connects is a ConnectAll under way.
type connects struct {
	ep       *Endpoint
	peers    []PeerName
	addrs    []EndpointAddr
	data     []byte // for the programs at the peers
	failures ConnectAllError
	began    int
	start    time.Time
	whole    bool  // the other contexts of the peers are to be connected, too
	rest     []int // of whom they are not yet

	reqs   []Request // under way
	places []int     // of their peers
	calls  []*endpoint.Calling
	done   [connectsAtOnce]Completion
}

// begin begins one connect, to the board of that id.
func (c *connects) begin(place int, to nic.ID) {
	p := &c.peers[place]
	call := calling(p.NIC, p.Endpoint, p.Filter)
	call.Data = c.data
	r, code, cause := c.ep.startPrivate(to, call)
	if code != Success {
		c.fail(place, code, cause)
		return
	}
	c.reqs, c.places, c.calls = append(c.reqs, r), append(c.places, place), append(c.calls, call)
}

// collect waits until some have ended.
func (c *connects) collect(ctx context.Context, timeout time.Duration) (some bool, err error) {
	if len(c.reqs) == 0 {
		return true, nil
	}
	n, err := c.ep.waitSome(ctx, c.reqs, c.done[:], timeout)
	for i := range c.done[:n] {
		c.end(c.done[i].Index, &c.done[i].Status)
	}
	c.tidy()
	return n > 0, err
}

// end notes what one came to. Who has answered under another id is asked once more, there.
func (c *connects) end(i int, st *Status) {
	place, to := c.places[i], nic.ID(c.calls[i].NIC)
	p := &c.peers[place]
	code, cause := c.ep.outcome(st, to, c.calls[i])
	switch asked := nic.ID(p.NIC); {
	case code == Success:
		c.addrs[place] = st.Source
		if c.whole {
			c.rest = append(c.rest, place)
		}
	case to == asked && c.ep.isElsewhere(asked, to, cause):
		c.begin(place, c.ep.dir.Actual(asked))
	default:
		c.fail(place, code, cause)
	}
}

// tidy drops those that have ended.
func (c *connects) tidy() {
	left := 0
	for i, r := range c.reqs {
		if !r.IsZero() {
			c.reqs[left], c.places[left], c.calls[left] = r, c.places[i], c.calls[i]
			left++
		}
	}
	c.reqs, c.places, c.calls = c.reqs[:left], c.places[:left], c.calls[:left]
}

// giveUp ends the rest, those that an end begins anew among them. A nil error: Wakeup was called.
func (c *connects) giveUp(why error) {
	for i := 0; i < len(c.reqs); i++ {
		var late endpoint.Status
		to := nic.ID(c.calls[i].NIC)
		asked := c.ep.d.UnderReview(uint64(to), c.calls[i].Endpoint)
		if fate, err := c.ep.d.Abandon(c.reqs[i].h, &late); err == nil && fate == endpoint.FateEnded { // just now
			st := c.ep.status(&late)
			c.end(i, &st)
			continue
		}
		c.failUnended(c.places[i], why, asked, to)
	}
	for i := c.began; i < len(c.peers); i++ {
		c.failUnended(i, why, false, nic.ID(c.peers[i].NIC))
	}
	c.reqs, c.began = nil, len(c.peers)
}

func (c *connects) failUnended(place int, why error, asked bool, to nic.ID) {
	code, cause := c.ep.unended(&vain{why, Infinite, time.Since(c.start), asked, to, c.peers[place].Endpoint})
	c.fail(place, code, cause)
}

func (c *connects) fail(place int, code ReturnCode, cause error) {
	p := c.peers[place]
	c.failed(place, c.ep.connectError(p.NIC, p.Endpoint, code, cause))
}

func (c *connects) failed(place int, why *Error) {
	if c.failures == nil {
		c.failures = make(ConnectAllError, len(c.peers))
	}
	c.failures[place] = why
}
