//go:build linux

package shm

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"gomx/internal/labels"
	"gomx/transport"
	"gomx/transport/bell"
	"gomx/transport/internal/epoll"
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
	busy  int // links after the first leastBusy that are looked at in every Poll

	stopped  bool    // the handler wants nothing more in this Poll
	delivers bool    // a frame, in this Poll
	copied   int     // bytes of pulls since the last Poll; not 0 while pulls are under way
	pulls    []*pull // under way, the next one first
	idle     []*pull // for later

	learned experience // under the endpoint's lock, too

	mu       sync.Mutex
	all      map[int32]*link // bound or not, by their keys
	lastKey  int32
	sockets  *epoll.Pending // of all links; nil until there is one
	watching sync.WaitGroup
}

// keep notes a link that must be closed with the port, and has its socket watched. It refuses once the port
// is closed.
func (p *port) keep(l *link) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Load() {
		return transport.ErrClosed
	}
	if p.sockets == nil {
		sockets, err := epoll.NewPending()
		if err != nil {
			return err
		}
		p.sockets, p.all = sockets, map[int32]*link{}
		p.watching.Add(1)
		go labels.ForEndpoint("watch", p.self.Endpoint).Func(p.watch)()
	}
	p.lastKey = (p.lastKey + 1) & math.MaxInt32
	for p.all[p.lastKey] != nil {
		p.lastKey = (p.lastKey + 1) & math.MaxInt32
	}
	l.key = p.lastKey
	p.all[l.key] = l
	if err := l.join(p.sockets); err != nil {
		delete(p.all, l.key)
		return err
	}
	return nil
}

func (p *port) drop(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[l.key] == l {
		delete(p.all, l.key)
	}
}

// of returns the link that has a key, or nil if that is closed.
func (p *port) of(key int32) *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[key]
}

func (p *port) every() []*link {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Values(p.all))
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

// Diagnostics counts the peers and says for each kind of obstacle how many peers
// can't be read directly.
func (p *port) Diagnostics() []transport.Diagnostic {
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
	diagnostics := []transport.Diagnostic{
		{Name: "peers", Value: strconv.Itoa(len(all))},
		{Name: "single copy", Value: fmt.Sprintf("%d of %d peers", readable, len(all))},
		{Name: "arenas mapped", Value: strconv.Itoa(mapped)},
		{Name: "address space per peer", Value: fmt.Sprintf("%d bytes, touched as used", pairSize)},
	}
	if why != nil {
		diagnostics = append(diagnostics, transport.Diagnostic{Name: "no single copy because", Value: why.Error()})
	}
	return diagnostics
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
	if p.sockets != nil { // no link is kept any more
		p.sockets.Close()
		p.watching.Wait()
	}
	return err
}
