//go:build linux

package tcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gomx/transport"
)

// Desk is where an endpoint dials peers, and is dialled by them, for one purpose.
// The desks of an endpoint share its listening port. The methods may be called
// concurrently.
type Desk struct {
	place   *place
	purpose Purpose
	events  transport.Events
	welcome Exchange

	closed atomic.Bool
	life   context.Context // ends with the desk
	end    context.CancelFunc
	visits sync.WaitGroup // guests and dials. New ones come only while the desk is in place.desks
}

// Exchange is what two sides that have met say to each other, after the handshake.
// It may block until ctx ends, and m.Conn fails then: when the time for the
// handshake is over, when the desk is closed, and when the context of the dial
// ends. Desk.Close waits for it, so it must not wait for whoever calls Close.
//
// To keep the connection, the Exchange takes it (Met.Take). One that was not taken
// is closed when the Exchange returns.
type Exchange func(ctx context.Context, m *Met) error

// Join opens a desk for a purpose, one of Options.Serves, at the endpoint o.Self;
// o.Bell is not used. Peers that dial for that purpose get to welcome once their
// handshake is done; an error of it is counted as a refused handshake. Nobody is
// accepted before the endpoint is open for all of Options.Serves.
//
// The errors are transport.ErrBusy if the TCP port is taken on an address of the
// board, if the endpoint is open for that purpose, or open with another session;
// transport.ErrNoRoute if it has no port or its board no address;
// transport.ErrUnsupported if the purpose is none of Options.Serves; and that of
// the TLS configuration.
func (t *Transport) Join(o transport.Open, purpose Purpose, welcome Exchange) (*Desk, error) {
	d, err := t.join(o, purpose, welcome)
	if err != nil {
		return nil, fmt.Errorf("open %v: %w", o.Self, err)
	}
	return d, nil
}

func (t *Transport) join(o transport.Open, purpose Purpose, welcome Exchange) (*Desk, error) {
	if !slices.Contains(t.opt.Serves, purpose) {
		return nil, fmt.Errorf("%w: its port does not serve %v", transport.ErrUnsupported, purpose)
	}
	t.places.mu.Lock()
	defer t.places.mu.Unlock()
	p := t.places.at[o.Self]
	if p == nil {
		var err error
		if p, err = t.newPlace(o.Self, o.Session); err != nil {
			return nil, err
		}
		t.places.at[o.Self] = p
	}
	d := &Desk{place: p, purpose: purpose, events: o.Events, welcome: welcome}
	d.life, d.end = context.WithCancel(context.Background())
	if err := p.add(d, o.Session); err != nil {
		d.end()
		return nil, err
	}
	return d, nil
}

// enter has Close wait for a dial, and reports whether the desk is open.
func (d *Desk) enter() bool {
	p := d.place
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	if p.desks[d.purpose] != d {
		return false
	}
	d.visits.Add(1)
	return true
}

// Describe says where the endpoint listens, what protects it, and who was turned
// away last.
func (d *Desk) Describe() []transport.Fact {
	p := d.place
	var at []string
	for _, l := range p.listeners {
		at = append(at, l.Addr().String())
	}
	facts := []transport.Fact{
		{Name: "listens on", Value: strings.Join(at, ", ")},
		{Name: "secret", Value: onOff(len(p.opt.Secret) > 0)},
		{Name: "TLS", Value: onOff(p.server != nil)},
		{Name: "a vanished host is noticed within", Value: p.opt.KeepAlive.String()},
		{Name: "ports", Value: fmt.Sprintf("%d from %d on", p.opt.Ports, p.opt.PortBase)},
	}
	if why := p.lastRefused(); why != nil {
		facts = append(facts, transport.Fact{Name: "last refused", Value: why.Error()})
	}
	return facts
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// Close ends the dials and the handshakes under way, and waits for their
// Exchanges. Peers that dial for its purpose from now on are told that it is not
// served. The last desk of an endpoint gives the port back.
func (d *Desk) Close() error {
	if d.closed.Swap(true) {
		return nil
	}
	last, err := d.place.remove(d)
	d.end()
	d.visits.Wait()
	if last {
		d.place.busy.Wait()
	}
	return err
}
