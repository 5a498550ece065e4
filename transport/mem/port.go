package mem

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"gomx/transport"
)

// How many frames a Poll delivers at most, together and of one link.
const (
	pollBudget = 64
	linkBudget = 32
)

// Port is an endpoint's presence on a Network. Beyond what transport.Port asks,
// all methods but Poll may be called concurrently.
type Port struct {
	net     *Network
	self    transport.Address
	session uint32
	events  transport.Events
	bell    transport.Doorbell

	links atomic.Pointer[[]*link] // replaced as a whole, under Network.mu
	polls atomic.Uint64           // the clock of delayed frames
	_     [portFill]byte
}

var _ transport.Port = (*Port)(nil)

// Dial makes a link to peer and has told peer's Events of it when it returns. It
// does not block. The errors are transport.ErrNoPeer, ErrNoRoute between
// addresses that are cut, ErrClosed after Close, and that of ctx.
func (p *Port) Dial(ctx context.Context, peer transport.Address) (transport.Link, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("mem: %w", err)
	}
	near, far, err := p.net.connect(p, peer)
	if err != nil {
		return nil, fmt.Errorf("mem: %w", err)
	}
	far.port.events.Accepted(far)
	return near, nil
}

// Poll delivers frames, 64 at most, the links taking turns to be first.
func (p *Port) Poll(h transport.Handler) int {
	step := p.polls.Add(1)
	links := *p.links.Load()
	if len(links) == 0 {
		return 0
	}
	delivered, first := 0, int(step%uint64(len(links)))
	for i := range links {
		if delivered >= pollBudget {
			break
		}
		l := links[(first+i)%len(links)]
		n, more := l.poll(h, step, min(linkBudget, pollBudget-delivered))
		if delivered += n; !more {
			break
		}
	}
	return delivered
}

// Quiet reports whether nothing is there to be polled, now or, if it is delayed,
// at a later Poll.
func (p *Port) Quiet() bool {
	for _, l := range *p.links.Load() {
		if !l.in.quiet() || l.pulls.some() {
			return false
		}
	}
	return true
}

// Diagnostics returns the number of links, and the faults of a lossy network.
func (p *Port) Diagnostics() []transport.Diagnostic {
	diagnostics := []transport.Diagnostic{
		{Name: "links", Value: strconv.Itoa(len(*p.links.Load()))},
		{Name: "frames per link", Value: strconv.Itoa(p.net.opt.Depth)},
	}
	if f := p.net.opt.Faults; f != (Faults{}) {
		diagnostics = append(diagnostics, transport.Diagnostic{Name: "faults", Value: fmt.Sprintf("%+v", f)})
	}
	return diagnostics
}

// Close closes the links and gives the address back. A peer's Events.Down gets
// an error that is transport.ErrClosed. Closing again does nothing.
func (p *Port) Close() error {
	p.end(transport.ErrClosed)
	return nil
}

// Kill ends the port as if its process had died: as Close, but links of peers go
// down with transport.ErrPeerDied.
func (p *Port) Kill() { p.end(transport.ErrPeerDied) }

func (p *Port) end(reason error) {
	p.net.mu.Lock()
	if p.net.ports[p.self] == p {
		delete(p.net.ports, p.self)
	}
	links := *p.links.Load()
	p.setLinks(nil)
	p.net.mu.Unlock()
	for _, l := range links {
		l.end(reason)
	}
}

// breakLinks breaks this side of the links to a peer. Network.mu is held.
func (p *Port) breakLinks(peer transport.Address) {
	if p == nil {
		return
	}
	for _, l := range *p.links.Load() {
		if l.address == peer {
			l.exported.clear()
			l.pulls.forget()
			l.in.sever(errCut)
		}
	}
}

var errCut = errors.New("cut")

func (p *Port) forget(l *link) {
	p.net.mu.Lock()
	defer p.net.mu.Unlock()
	p.setLinks(slices.DeleteFunc(p.copyLinks(), func(other *link) bool { return other == l }))
}

func (p *Port) copyLinks() []*link { return slices.Clone(*p.links.Load()) }

func (p *Port) setLinks(links []*link) { p.links.Store(&links) }

func (p *Port) ring() {
	if p.bell != nil {
		p.bell.Ring()
	}
}
