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

// Listener dials peers, and accepts connections from them, for one purpose of an
// endpoint. The Listeners of an endpoint share its listening port. The methods may be called
// concurrently.
type Listener struct {
	acceptor *acceptor
	purpose  Purpose
	events   transport.Events
	onPeer   Exchange

	closed atomic.Bool
	life   context.Context // ends with the Listener
	end    context.CancelFunc
	users  sync.WaitGroup // inbound handshakes and dials. New ones start only while it is in acceptor.listeners
}

// Exchange is the protocol that two peers speak once the handshake has
// authenticated them. It may block until ctx ends, and peer.Conn fails then: when the
// time for the handshake is over, when the Listener is closed, and when the context of the dial
// ends. Listener.Close waits for it, so it must not wait for whoever calls Close.
//
// To keep the connection, the Exchange takes it (Peer.Take). One that was not taken
// is closed when the Exchange returns.
type Exchange func(ctx context.Context, peer *Peer) error

// Join opens a Listener for a purpose, one of Options.Serves, at the endpoint o.Self;
// o.Bell is not used. onPeer is called for each peer that dials for that purpose,
// once its handshake is done; an error of onPeer is counted as a refused handshake.
// No connection is accepted before the endpoint is open for all of Options.Serves.
//
// The errors are transport.ErrBusy if the TCP port is taken on an address of the
// board, if the endpoint is open for that purpose, or open with another session;
// transport.ErrNoRoute if it has no port or its board no address;
// transport.ErrUnsupported if the purpose is none of Options.Serves; and that of
// the TLS configuration.
func (t *Transport) Join(o transport.Open, purpose Purpose, onPeer Exchange) (*Listener, error) {
	l, err := t.join(o, purpose, onPeer)
	if err != nil {
		return nil, fmt.Errorf("open %v: %w", o.Self, err)
	}
	return l, nil
}

func (t *Transport) join(o transport.Open, purpose Purpose, onPeer Exchange) (*Listener, error) {
	if !slices.Contains(t.opt.Serves, purpose) {
		return nil, fmt.Errorf("%w: its port does not serve %v", transport.ErrUnsupported, purpose)
	}
	t.acceptors.mu.Lock()
	defer t.acceptors.mu.Unlock()
	a := t.acceptors.at[o.Self]
	if a == nil {
		var err error
		if a, err = t.newAcceptor(o.Self, o.Session); err != nil {
			return nil, err
		}
		t.acceptors.at[o.Self] = a
	}
	l := &Listener{acceptor: a, purpose: purpose, events: o.Events, onPeer: onPeer}
	l.life, l.end = context.WithCancel(context.Background())
	if err := a.add(l, o.Session); err != nil {
		l.end()
		return nil, err
	}
	return l, nil
}

// enter makes Close wait for a dial. It reports whether the Listener is open.
func (l *Listener) enter() bool {
	a := l.acceptor
	a.all.mu.Lock()
	defer a.all.mu.Unlock()
	if a.listeners[l.purpose] != l {
		return false
	}
	l.users.Add(1)
	return true
}

// Diagnostics reports where the endpoint listens, what protects it, and the last peer
// that was refused.
func (l *Listener) Diagnostics() []transport.Diagnostic {
	a := l.acceptor
	var at []string
	for _, l := range a.sockets {
		at = append(at, l.Addr().String())
	}
	diagnostics := []transport.Diagnostic{
		{Name: "listens on", Value: strings.Join(at, ", ")},
		{Name: "secret", Value: onOff(len(a.opt.Secret) > 0)},
		{Name: "TLS", Value: onOff(a.server != nil)},
		{Name: "a vanished host is noticed within", Value: a.opt.KeepAlive.String()},
		{Name: "ports", Value: fmt.Sprintf("%d from %d on", a.opt.Ports, a.opt.PortBase)},
	}
	if why := a.lastRefused(); why != nil {
		diagnostics = append(diagnostics, transport.Diagnostic{Name: "last refused", Value: why.Error()})
	}
	return diagnostics
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// Close ends the dials and the handshakes under way, and waits for their
// Exchanges. Peers that dial for its purpose from now on get the answer that it is
// not served. Closing the last Listener of an endpoint closes the port.
func (l *Listener) Close() error {
	if l.closed.Swap(true) {
		return nil
	}
	last, err := l.acceptor.remove(l)
	l.end()
	l.users.Wait()
	if last {
		l.acceptor.busy.Wait()
	}
	return err
}
