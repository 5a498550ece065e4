//go:build linux

package tcp

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"gomx/transport"
	"gomx/transport/internal/epoll"
	"gomx/transport/tcp/internal/sock"
	"gomx/transport/wire"
)

// port is an endpoint's presence on the network.
type port struct {
	caps     *wire.Caps
	listener *Listener
	events   transport.Events
	bell     transport.Doorbell

	narrow  bool // Go has a single processor
	overdue bool // the present Poll is one that was asked for

	closed    atomic.Bool
	patience  *transport.Patience // of the close, once that is under way; under the endpoint's lock
	lingering sync.WaitGroup      // closed links whose output has not left this host

	// Under the endpoint's lock.
	links   []*link // bound ones
	table   []*link // bound ones by key; nil where one has left
	fresh   []int32 // keys that are free
	ready   []*link // bound ones that have, or may have, something to read
	first   int     // where in ready the next turn begins
	unsent  []*link // those with buffered output
	turn    uint32  // counts calls of Poll
	stopped bool    // the handler wants nothing more in this one
	idle    int     // calls of Poll in a row without a frame
	in      []byte  // what is read goes here first
	reader  *link   // whose bytes lie in it
	scratch []byte  // where Send puts a frame together
	batch   sock.Batch
	head    wire.Header // of the frame that is being handed over
	pool    pool

	mu    sync.Mutex
	all   map[*link]struct{} // bound or not
	epoll *epoll.Set         // nil until there is a link
}

// keep notes a link that must be closed with the port. With the first one, the
// doorbell begins to look at sockets.
func (p *port) keep(l *link) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.epoll == nil {
		e, err := epoll.New()
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

// Diagnostics says how many links there are, and what the Listener reports.
func (p *port) Diagnostics() []transport.Diagnostic {
	p.mu.Lock()
	links := len(p.all)
	p.mu.Unlock()
	return slices.Insert(p.listener.Diagnostics(), 1, transport.Diagnostic{Name: "links", Value: strconv.Itoa(links)})
}

// Close closes the Listener, and closes the links. Their buffered output is sent while the peers' hosts take it.
func (p *port) Close() error {
	if p.closed.Swap(true) {
		return nil
	}
	err := p.listener.Close() // no links are made any more
	for _, l := range p.every() {
		l.Close()
	}
	p.lingering.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.epoll != nil {
		p.epoll.Close()
		p.epoll = nil
	}
	return err
}
