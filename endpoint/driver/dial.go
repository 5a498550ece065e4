package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gomx/endpoint"
	"gomx/transport"
	"gomx/transport/wire"
)

// route is what is known about the way to a peer. It is guarded by the
// endpoint's lock.
type route struct {
	at      transport.Address
	failure error // why the last dial failed, or why the link ended; nil while there is a link
	instead error // why the transports that are preferred to that of the dialled link failed
}

// routeTo returns the peer's route, made on first use.
func (d *Endpoint) routeTo(peer int32) *route {
	r := d.routes[peer]
	if r == nil {
		r = &route{}
		d.routes[peer] = r
	}
	return r
}

// Peer says how a peer is reached.
type Peer struct {
	Address  transport.Address
	Contexts wire.Contexts // which it has announced
	Medium   string        // transport of the present or the last link; "" if there was none
	Failure  error         // why the last dial failed, or why the link ended; nil while there is a link
	Instead  error         // why transports that are preferred to Medium were not used; nil: they weren't tried
	Eager    int           // largest message that goes there eagerly, bytes; -1: there is no link

	Sent, Received uint32 // sequenced frames of the present session
}

// Peers returns all peers that this side has dialled or that have dialled it, in
// the order of their first contact.
func (d *Endpoint) Peers() []Peer {
	d.visit()
	defer d.unlock()
	var all []Peer
	for i := range int32(d.eng.Peers()) {
		if r := d.routes[i]; r != nil {
			p := Peer{Address: r.at, Medium: d.eng.MediumName(i), Failure: r.failure, Instead: r.instead, Eager: d.eng.EagerOf(i)}
			p.Contexts = d.eng.ContextsOfPeer(i)
			p.Sent, p.Received = d.eng.FramesWith(i)
			all = append(all, p)
		}
	}
	return all
}

// Reason returns why the last attempt to reach a peer failed, or why its link
// ended, or nil.
func (d *Endpoint) Reason(nic uint64, id uint32) error {
	d.visit()
	defer d.unlock()
	if r := d.routes[d.eng.PeerOf(nic, id)]; r != nil {
		return r.failure
	}
	return nil
}

// Dial starts a goroutine that tries the transports in turn.
func (h *host) Dial(peer int32, nic uint64, id uint32) {
	d := (*Endpoint)(h)
	to := transport.Address{NIC: nic, Endpoint: id}
	d.routeTo(peer).at = to
	ports := slices.Clone(d.ports)
	d.dials.Add(1)
	go func() {
		defer d.dials.Done()
		d.dialling.Set()
		link, err := dialAny(d.life, ports, to)
		if link == nil {
			d.inbox.put(event{kind: dialFailed, peer: peer, cause: err})
			return
		}
		d.inbox.put(event{kind: linkDialled, peer: peer, link: link, cause: err})
	}()
}

// dialAny dials over the transports in order and returns the first link, together with the errors of the transports before
// it. Without a link, the error says why. If a peer is slow to answer, no other transport is tried: the peer would answer no
// sooner, and the link would be a slower one.
func dialAny(ctx context.Context, ports []transport.Port, to transport.Address) (transport.Link, error) {
	var errs []error
	for i, p := range ports {
		l, err := p.Dial(ctx, to)
		switch {
		case err == nil:
			return prefer(ctx, ports[:i], to, l, errs)
		case errors.Is(err, transport.ErrSlow):
			return nil, err
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return nil, fmt.Errorf("%v: %w: the endpoint has none but self, and needs another one (MX_TRANSPORT)", to, transport.ErrNoRoute)
	}
	return nil, telling(errs)
}

// prefer dials once more over the preferred transports that found no endpoint, after a later transport has made a link. A peer
// opens the preferred transports first, so it may have opened them since.
func prefer(ctx context.Context, preferred []transport.Port, to transport.Address, have transport.Link, errs []error) (transport.Link, error) {
	for i, p := range preferred {
		if !errors.Is(errs[i], transport.ErrNoPeer) {
			continue
		}
		if l, err := p.Dial(ctx, to); err == nil {
			have.Close()
			return l, errors.Join(errs[:i]...)
		}
	}
	return have, errors.Join(errs...)
}

// telling picks the errors that say why a peer can't be reached. A transport that cannot reach the peer's host, such as shared
// memory, reports "no such endpoint" or "no route", which means nothing if another transport got farther. So errors of
// other kinds come first, then "no such endpoint" of the last transport, which reaches farthest, and then "no route".
func telling(errs []error) error {
	var absent, other []error
	for _, err := range errs {
		switch {
		case errors.Is(err, transport.ErrNoRoute):
		case errors.Is(err, transport.ErrNoPeer):
			absent = append(absent, err)
		default:
			other = append(other, err)
		}
	}
	switch {
	case len(other) > 0:
		return errors.Join(other...)
	case len(absent) > 0:
		return absent[len(absent)-1]
	}
	return errors.Join(errs...)
}

// codeOf maps why there is no link to the status of the connect.
func codeOf(err error) endpoint.Code {
	switch {
	case errors.Is(err, transport.ErrNoPeer):
		return endpoint.EndpointClosed
	case errors.Is(err, transport.ErrSlow):
		return endpoint.TimedOut
	}
	return endpoint.EndpointUnreachable
}
