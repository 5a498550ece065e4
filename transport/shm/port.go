//go:build linux

package shm

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"gomx/transport"
	"gomx/transport/bell"
	"gomx/transport/wire"
)

// port is an endpoint's presence on the host.
type port struct {
	opt      Options
	caps     *wire.Caps
	self     transport.Address
	session  uint32
	events   transport.Events
	bell     *bell.Bell
	listener *net.UnixListener

	closed    atomic.Bool
	life      context.Context // ends with the port
	end       context.CancelFunc
	accepting sync.WaitGroup

	links []*link // bound ones, the busy first; under the endpoint's lock
	turn  int

	stopped bool    // the handler wants nothing more in this Poll
	copied  int     // bytes of pulls since the last Poll; not 0 while pulls are under way
	pulls   []*pull // under way, the next one first
	idle    []*pull // for later

	learned experience // under the endpoint's lock, too

	mu  sync.Mutex
	all map[*link]struct{} // bound or not
}

// keep notes a link that must be closed with the port. It refuses once the port
// is closed.
func (p *port) keep(l *link) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Load() {
		return transport.ErrClosed
	}
	if p.all == nil {
		p.all = map[*link]struct{}{}
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

// remove takes a link out of the polling, and ends its pulls.
func (p *port) remove(l *link) {
	p.pulls = slices.DeleteFunc(p.pulls, func(g *pull) bool {
		if g.link != l {
			return false
		}
		p.freePull(g)
		return true
	})
	p.links = slices.DeleteFunc(p.links, func(o *link) bool { return o == l })
}

// Describe counts the peers and says for each kind of obstacle how many peers
// can't be read directly.
func (p *port) Describe() []transport.Fact {
	readable, mapped := 0, 0
	var why error
	all := p.every()
	for _, l := range all {
		if err := l.unreadable(); err == nil {
			readable++
		} else {
			why = err
		}
		if l.far.Load() != nil {
			mapped++
		}
	}
	facts := []transport.Fact{
		{Name: "peers", Value: strconv.Itoa(len(all))},
		{Name: "single copy", Value: fmt.Sprintf("%d of %d peers", readable, len(all))},
		{Name: "arenas mapped", Value: strconv.Itoa(mapped)},
		{Name: "address space per peer", Value: fmt.Sprintf("%d bytes, touched as used", pairSize)},
	}
	if why != nil {
		facts = append(facts, transport.Fact{Name: "no single copy because", Value: why.Error()})
	}
	return facts
}

// Close closes all links and gives the address back. It waits for handshakes
// under way, which it ends.
func (p *port) Close() error {
	if p.closed.Swap(true) {
		return nil
	}
	err := p.listener.Close()
	p.end()
	p.accepting.Wait()
	for _, l := range p.every() {
		l.Close()
	}
	return err
}
