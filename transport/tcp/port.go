//go:build linux

package tcp

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"gomx/transport"
	"gomx/transport/tcp/internal/sock"
	"gomx/transport/wire"
)

// port is an endpoint's presence on the network.
type port struct {
	opt            *Options
	caps           *wire.Caps
	self           transport.Address
	session        uint32
	events         transport.Events
	bell           transport.Doorbell
	server, client *tls.Config // nil: no TLS
	listeners      []*net.TCPListener

	closed    atomic.Bool
	life      context.Context // ends with the port
	end       context.CancelFunc
	accepting sync.WaitGroup
	parting   sync.WaitGroup // links that are closed, and still send

	// Under the endpoint's lock.
	links   []*link // bound ones
	table   []*link // bound ones by key; nil where one has left
	fresh   []int32 // keys that are free
	ready   []*link // bound ones that have, or may have, something to read
	first   int     // where in ready the next turn begins
	unsent  []*link // those that hold output back
	turn    uint32  // counts calls of Poll
	idle    int     // calls of Poll in a row without a frame
	in      []byte  // what is read goes here first
	reader  *link   // whose bytes lie in it
	scratch []byte  // where Send puts a frame together
	batch   sock.Batch
	head    wire.Header // of the frame that is being handed over
	pool    pool

	mu      sync.Mutex
	all     map[*link]struct{} // bound or not
	epoll   *sock.Epoll        // nil until there is a link
	refused error              // the last peer that was turned away, and why
}

// keep notes a link that must be closed with the port. It refuses once the port
// is closed. With the first one, the doorbell begins to look at sockets.
func (p *port) keep(l *link) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Load() {
		return transport.ErrClosed
	}
	if p.epoll == nil {
		e, err := sock.NewEpoll()
		if err != nil {
			return err
		}
		if err := p.bell.Watch(e.FD()); err != nil {
			e.Close()
			return err
		}
		p.epoll, p.all = e, map[*link]struct{}{}
	}
	p.all[l] = struct{}{}
	return nil
}

func (p *port) drop(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, l)
}

func (p *port) every() []*link {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.all))
}

// refuse counts a peer that was turned away, and keeps the reason for Describe.
func (p *port) refuse(why error) {
	if p.closed.Load() {
		return // it is we who broke it off
	}
	p.mu.Lock()
	p.refused = why
	p.mu.Unlock()
	p.events.Count(transport.RefusedHandshakes)
}

// enter makes l one of those that are polled.
func (p *port) enter(l *link) {
	if n := len(p.fresh); n > 0 {
		l.key = p.fresh[n-1]
		p.fresh = p.fresh[:n-1]
		p.table[l.key] = l
	} else {
		l.key = int32(len(p.table))
		p.table = append(p.table, l)
	}
	p.links = append(p.links, l)
	if p.in == nil {
		p.in = make([]byte, inSize)
		p.scratch = make([]byte, 0, scratchSize)
	}
	p.watch(l)
	if len(p.links) == directLinks+1 {
		p.watchAll()
	}
	l.markReady()
	l.turn = p.turn - 1
	if len(l.out) > 0 || l.retained.left > 0 {
		l.wait()
	}
	p.idle = 0
}

// leave takes l out of everything that is polled.
func (p *port) leave(l *link) {
	if l.key < 0 {
		return
	}
	p.table[l.key] = nil
	p.fresh = append(p.fresh, l.key)
	l.key = -1
	without := func(list []*link) []*link {
		return slices.DeleteFunc(list, func(o *link) bool { return o == l })
	}
	p.links = without(p.links)
	if l.watched {
		p.epoll.Remove(l.fd)
	}
	if l.ready = false; l.waiting {
		p.unsent = without(p.unsent)
		l.waiting = false
	}
	if p.reader == l {
		p.reader = nil
	}
	if len(p.links) == 0 {
		p.in, p.scratch, p.pool = nil, nil, pool{}
	}
}

// Describe says where the port listens, how many links there are, and what
// protects them.
func (p *port) Describe() []transport.Fact {
	var at []string
	for _, l := range p.listeners {
		at = append(at, l.Addr().String())
	}
	p.mu.Lock()
	links, refused := len(p.all), p.refused
	p.mu.Unlock()
	facts := []transport.Fact{
		{Name: "listens on", Value: strings.Join(at, ", ")},
		{Name: "links", Value: strconv.Itoa(links)},
		{Name: "secret", Value: onOff(len(p.opt.Secret) > 0)},
		{Name: "TLS", Value: onOff(p.server != nil)},
		{Name: "a vanished host is noticed within", Value: p.opt.KeepAlive.String()},
		{Name: "ports", Value: fmt.Sprintf("%d from %d on", p.opt.Ports, p.opt.PortBase)},
	}
	if refused != nil {
		facts = append(facts, transport.Fact{Name: "last refused", Value: refused.Error()})
	}
	return facts
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// Close sends what is held back, within closeBound, closes the links and gives
// the address back. It ends the handshakes under way and waits for them.
func (p *port) Close() error {
	if p.closed.Swap(true) {
		return nil
	}
	err := p.closeListeners()
	p.end()
	p.accepting.Wait()
	for _, l := range p.every() {
		l.Close()
	}
	p.parting.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.epoll != nil {
		p.epoll.Close()
		p.epoll = nil
	}
	return err
}
