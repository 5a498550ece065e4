package mx

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/internal/ended"
	"gomx/transport/nic"
	"gomx/transport/wire"
)

// contexts returns what the endpoint behind the address has said of its contexts, and where this one is.
func (a EndpointAddr) contexts() (c wire.Contexts, nicID uint64, id uint32, ok bool) {
	if a.ep == nil {
		return c, 0, 0, false
	}
	a.ep.d.Query(func(e *endpoint.Engine) {
		if c, ok = e.ContextsOf(a.a); ok {
			nicID, id, ok = e.Locate(a.a)
		}
	})
	return c, nicID, id, ok
}

// Contexts returns how many contexts the endpoint behind the address has: 1 unless it was opened with WithContexts, and 0 for the
// zero address. Safe from any goroutine.
func (a EndpointAddr) Contexts() int {
	c, _, _, ok := a.contexts()
	if !ok {
		return 0
	}
	return c.Count()
}

// ContextIndex returns which of the contexts of its endpoint the address leads to, from 0. Safe from any goroutine.
func (a EndpointAddr) ContextIndex() int {
	c, _, _, _ := a.contexts()
	return int(c.Index)
}

// ContextName returns the name of the context that the address leads to, or "". Safe from any goroutine.
func (a EndpointAddr) ContextName() string {
	c, _, _, _ := a.contexts()
	return c.Name(int(c.Index))
}

// ContextAt returns the address of another context of the same endpoint, by its index, for use with the same local endpoint or context as
// a. It takes the lock of that for a moment: programs keep the addresses that they use often.
//
// Errors: ErrBadAddrList (a is the zero address, or the context is not connected with the local one: call Connect, or
// ConnectContexts), ErrBadEndpointID (there is no such context). Safe from any goroutine.
func (a EndpointAddr) ContextAt(index int) (EndpointAddr, error) {
	c, nicID, id, ok := a.contexts()
	switch {
	case !ok:
		return EndpointAddr{}, fail("context of", ErrBadAddrList, "", nil)
	case index < 0 || index >= c.Count():
		return EndpointAddr{}, a.ep.fail("context of", a.String(), noContextAt(index, c.Count()))
	}
	return a.ep.connectedWith(a, nicID, id-uint32(c.Index), index)
}

// ContextNamed is ContextAt by a name, which is not "".
func (a EndpointAddr) ContextNamed(name string) (EndpointAddr, error) {
	c, _, _, ok := a.contexts()
	i, has := c.Find(name)
	switch {
	case !ok:
		return EndpointAddr{}, fail("context of", ErrBadAddrList, "", nil)
	case !has:
		return EndpointAddr{}, a.ep.fail("context of", a.String(), noContextNamed(name))
	}
	return a.ContextAt(i)
}

// ContextFor is ContextAt by a hash of the match information: see HashContext. The peer posts its receive in the context that its
// Endpoint.ContextFor returns.
func (a EndpointAddr) ContextFor(matchInfo uint64) (EndpointAddr, error) {
	return a.ContextAt(HashContext(matchInfo, max(1, a.Contexts())))
}

// From returns the address of the same context of the peer for use with another context of the local endpoint: own. Errors:
// those of ContextAt; ErrBadEndpoint if own is not a context of the endpoint that a belongs to. Safe from any goroutine.
func (a EndpointAddr) From(own *Endpoint) (EndpointAddr, error) {
	c, nicID, id, ok := a.contexts()
	switch {
	case !ok:
		return EndpointAddr{}, fail("address from", ErrBadAddrList, "", nil)
	case own == a.ep:
		return a, nil
	case own == nil || own.group == nil || own.group != a.ep.group:
		return EndpointAddr{}, a.ep.fail("address from", a.String(), &instead{"they are not contexts of one endpoint", ErrBadEndpoint})
	}
	return own.connectedWith(a, nicID, id-uint32(c.Index), int(c.Index))
}

// connectedWith returns the address of a context of the endpoint with an id, if there is a session with it.
func (ep *Endpoint) connectedWith(a EndpointAddr, nicID uint64, id uint32, index int) (EndpointAddr, error) {
	var to endpoint.Addr
	ok := false
	ep.d.Query(func(e *endpoint.Engine) { to, ok = e.ConnectedWith(nicID, id+uint32(index)) })
	if !ok {
		return EndpointAddr{}, ep.fail("context of", a.String(), &instead{
			fmt.Sprintf("its context %d is not connected with %v: call Connect, or ConnectContexts", index, ep), ErrBadAddrList})
	}
	return EndpointAddr{ep, to}, nil
}

// ConnectContexts connects all contexts of the local endpoint with all of the endpoint behind an address, as Connect does by itself,
// with the filter of that, until ctx ends; ctx may be nil. It is for those who connected with Iconnect, or who were connected to by a peer that has not
// used Connect. Where all are connected it asks them once more, as the endpoint may be another one by now. With SingleThreaded, no other goroutine may use a context of the local endpoint
// meanwhile.
//
// Errors: ErrBadAddrList, ErrBadEndpoint, and those of Connect. MX does not have it. Safe from any goroutine.
func (ep *Endpoint) ConnectContexts(ctx context.Context, addr EndpointAddr, filter uint32) error {
	if err := ep.owns(addr); err != nil {
		return ep.fail("connect contexts of", addr.String(), err)
	}
	if ep.d.Closed() {
		return ep.fail("connect contexts of", addr.String(), driver.ErrClosed)
	}
	e := ep.connectAllContexts(ctx, addr, filter, nil, true)
	switch {
	case e == nil:
		return nil
	case ended.By(ctx, e.Cause):
		return e
	}
	return handle(ep.onError, e)
}

// connectRest connects what a connect has not: the other contexts of both sides, with the same data, in the time that is left of its
// timeout.
func (ep *Endpoint) connectRest(ctx context.Context, addr EndpointAddr, filter uint32, data []byte, timeout time.Duration) *Error {
	c, nicID, id, _ := addr.contexts()
	switch {
	case c.Index > 0:
		return ep.connectError(nicID, id, ErrBadEndpointID, notTheFirst(c, id))
	case ep.group == nil && c.Count() == 1:
		return nil
	case timeout != Infinite:
		if ctx == nil {
			ctx = context.Background()
		}
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	e := ep.connectAllContexts(ctx, addr, filter, data, false)
	if e == nil && !addr.isCurrent() {
		e = ep.connectError(nicID, id, ErrConnectionFailed, errLeftMeanwhile)
	}
	return e
}

// isCurrent reports whether the session with the peer is the one of the address.
func (a EndpointAddr) isCurrent() (is bool) {
	a.ep.d.Query(func(e *endpoint.Engine) {
		if nicID, id, ok := e.Locate(a.a); ok {
			to, connected := e.ConnectedWith(nicID, id)
			is = connected && to == a.a
		}
	})
	return is
}

// notTheFirst refuses the id of a context where that of an endpoint is wanted.
func notTheFirst(c wire.Contexts, id uint32) error {
	base := id - uint32(c.Index)
	return &instead{fmt.Sprintf("id %d is context %d of endpoint %d: connect with %d, and choose the context then", id, c.Index, base, base), nil}
}

// connectRest connects the other contexts of those who have some, and refuses ids that are those of contexts.
func (c *connects) connectRest(ctx context.Context) {
	for _, place := range c.rest {
		if e := c.ep.connectRest(ctx, c.addrs[place], c.peers[place].Filter, nil, Infinite); e != nil {
			c.addrs[place] = EndpointAddr{}
			c.failed(place, e)
		}
	}
	c.rest = c.rest[:0]
}

// connectAllContexts asks the context behind the address as well if it is told to.
func (ep *Endpoint) connectAllContexts(ctx context.Context, addr EndpointAddr, filter uint32, data []byte, itself bool) *Error {
	said, nicID, id, ok := addr.contexts()
	if !ok {
		return ep.newError("connect contexts of", addr.String(), ErrBadAddrList)
	}
	ctx, leave := ep.abroad.enter(ctx)
	defer leave()
	base := id - uint32(said.Index)
	for i := range ep.Contexts() {
		own := ep.ownContext(i)
		var missing []PeerName
		for j := range uint32(said.Count()) {
			if itself || own != ep || base+j != id { // the others are asked even where there is a session: it may be one with who was there before
				missing = append(missing, PeerName{NIC: nicID, Endpoint: base + j, Filter: filter})
			}
		}
		c := connects{ep: own, peers: missing, data: data, addrs: make([]EndpointAddr, len(missing))}
		c.run(ctx)
		if c.failures != nil {
			return c.failures.Unwrap()[0].(*Error)
		}
		for k, to := range c.addrs {
			if e := own.checkContext(to, said, base, missing[k].Endpoint-base); e != nil {
				return e
			}
		}
	}
	return ep.stillConnected(addr)
}

// stillConnected returns an error if one of the contexts is not connected any more with one of the peer's, which may have
// disconnected while the others were being connected.
func (ep *Endpoint) stillConnected(addr EndpointAddr) *Error {
	said, nicID, id, _ := addr.contexts()
	base := id - uint32(said.Index)
	for i := range ep.Contexts() {
		own := ep.ownContext(i)
		_ = own.d.Progress() // it may have said so by now
		for j := range uint32(said.Count()) {
			if !own.connectedTo(nic.ID(nicID), base+j) {
				return ep.connectError(nicID, base+j, ErrConnectionFailed, errLeftMeanwhile)
			}
		}
	}
	return nil
}

var errLeftMeanwhile = errors.New("it has disconnected while its contexts were being connected: connect again")

func (ep *Endpoint) ownContext(i int) *Endpoint {
	if ep.group == nil {
		return ep
	}
	return ep.group.list[i]
}

// checkContext returns an error if who has answered is not the context of the endpoint that the id is said to be.
func (ep *Endpoint) checkContext(to EndpointAddr, said wire.Contexts, base, index uint32) *Error {
	said.Index = uint8(index)
	if is, nicID, _, ok := to.contexts(); !ok || is != said {
		_ = ep.d.Disconnect(to.a)
		return ep.connectError(nicID, base+index, ErrConnectionFailed, fmt.Errorf("it is not context %d of endpoint %d, as that says", index, base))
	}
	return nil
}

// eachSession calls f for each session between a context of the endpoint and one of a peer.
func (ep *Endpoint) eachSession(addr EndpointAddr, f func(own *Endpoint, to endpoint.Addr) error) error {
	c, nicID, id, _ := addr.contexts()
	if ep.group == nil && c.Count() == 1 {
		return f(ep, addr.a)
	}
	var errs []error
	for i := range ep.Contexts() {
		own := ep.ownContext(i)
		for j := range uint32(c.Count()) {
			var to endpoint.Addr
			connected := false
			own.d.Query(func(e *endpoint.Engine) { to, connected = e.ConnectedWith(nicID, id-uint32(c.Index)+j) })
			if connected {
				errs = append(errs, f(own, to))
			}
		}
	}
	return errors.Join(errs...)
}

func (ep *Endpoint) disconnectAll(addr EndpointAddr) error {
	return ep.eachSession(addr, func(own *Endpoint, to endpoint.Addr) error { return own.d.Disconnect(to) })
}
