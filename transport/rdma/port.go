//go:build linux && cgo

package rdma

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"gomx/transport"
	"gomx/transport/internal/epoll"
	"gomx/transport/rdma/internal/slots"
	"gomx/transport/rdma/internal/verbs"
	"gomx/transport/tcp"
	"gomx/transport/wire"
)

// port is an endpoint's presence on a port of a device.
type port struct {
	opt      *Options
	self     transport.Address
	session  uint32
	events   transport.Events
	bell     transport.Doorbell
	at       devicePort
	build    builder // what Close takes apart
	listener *tcp.Listener
	ready    chan struct{} // closed once all below is made

	device      *verbs.Device
	domain      *verbs.Domain
	queue       *verbs.Queue
	inbox       *verbs.Inbox
	state       verbs.PortState
	maxReceives int  // in the inbox
	maxSignals  int  // in the queue, besides
	maxPieces   int  // of a request
	soft        bool // the device is Soft-RoCE, whose reads need a second look
	bounceMost  int  // bytes of a message that goes through a slot of bounce
	in          receives
	memory      memory
	closed      atomic.Bool

	// Under the endpoint's lock.
	table     map[uint32]*link // by number of the queue pair
	last      *link            // that a completion was for
	done      []verbs.Completion
	taken     int // of done
	sends     *verbs.Sends
	sender    *link    // whose work is in sends
	inlined   []uint32 // slots of out that are free once it is posted
	out       *slots.Pool
	repost    *verbs.Receives // slots whose messages are done with
	tickets   *slots.Pool
	bounce    *slots.Pool
	signals   int // completions that were asked for and have not come
	exported  exports
	pulls     []*pull // free ones
	finished  []finished
	returning []*link // that have credits to give back
	waiting   []*link // that have frames which were not taken
	waited    []*link // the memory of waiting before
	failing   []*link // links whose end is known and not yet reported
	leaving   []*link // closed, with work under way
	head      wire.Header
	turn      uint32     // counts calls of Poll
	stopped   bool       // the handler wants nothing more in this one
	idle      int        // calls of Poll in a row in which nothing came
	armed     bool       // the next completion wakes
	watched   *epoll.Set // see watch
	broken    error      // why the device is of no use any more
	watching  bool       // the watchdog's timer runs
	watchdog  *time.Timer
	expired   atomic.Bool
	event     atomic.Pointer[string] // what has happened to the device last

	mu     sync.Mutex
	all    map[*link]struct{} // that are not closed
	fresh  []*link            // not in table yet
	failed []*link            // whose exchange has failed
	news   atomic.Bool        // there is something in fresh or failed
}

// expect enters a link, from which messages may come from now on. It refuses once the
// port is closed.
func (p *port) expect(l *link) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Load() {
		return transport.ErrClosed
	}
	l.expected = true
	p.all[l] = struct{}{}
	p.fresh = append(p.fresh, l)
	p.news.Store(true)
	return nil
}

// takeNews enters new links, and closes those that have failed.
func (p *port) takeNews() {
	if !p.news.Load() {
		return
	}
	p.mu.Lock()
	fresh, failed := p.fresh, p.failed
	p.fresh, p.failed = nil, nil
	p.news.Store(false)
	p.mu.Unlock()
	for _, l := range fresh {
		if l.qp != nil {
			p.table[l.number] = l
		}
	}
	for _, l := range failed {
		l.Close()
	}
	p.idle = 0
}

// find returns the link of a queue pair, or nil if it is closed.
func (p *port) find(number uint32) *link {
	if l := p.last; l != nil && l.number == number {
		return l
	}
	l := p.table[number]
	if l == nil && p.news.Load() {
		p.takeNews()
		l = p.table[number]
	}
	if l != nil {
		p.last = l
	}
	return l
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

// fail ends all links: the device does not do what it must.
func (p *port) fail(why error) {
	if p.broken != nil {
		return
	}
	p.broken = why
	for _, l := range p.table {
		p.markFailing(l, why)
	}
}

// Diagnostics says which port of which device is used and why, how many links there
// are, and what memory is locked.
func (p *port) Diagnostics() []transport.Diagnostic {
	p.mu.Lock()
	links := len(p.all)
	p.mu.Unlock()
	p.in.mu.Lock()
	receives, granted := p.in.slots, p.in.granted
	p.in.mu.Unlock()
	diagnostics := []transport.Diagnostic{
		{Name: "device", Value: fmt.Sprintf("%v, %v, %s", &p.at.port, p.at.port.Layer, p.at.port.Rate)},
		{Name: "GID", Value: fmt.Sprintf("%v: %s", p.at.gid, p.at.why)},
		{Name: "links", Value: strconv.Itoa(links)},
		{Name: "receives", Value: fmt.Sprintf("%d of %d bytes, %d granted to peers as credits", receives, SlotSize, granted)},
	}
	if p.at.port.Layer == InfiniBand {
		diagnostics = append(diagnostics, transport.Diagnostic{Name: "LID", Value: strconv.Itoa(int(p.state.LID))})
	}
	if e := p.event.Load(); e != nil {
		diagnostics = append(diagnostics, transport.Diagnostic{Name: "last event", Value: *e})
	}
	diagnostics = append(diagnostics, transport.Diagnostic{
		Name: "copied rather than registered", Value: fmt.Sprintf("up to %d bytes", p.bounceMost),
	})
	return append(diagnostics, p.memory.diagnostics()...)
}

// closeBound is how long Close waits for what was sent to arrive.
const closeBound = 500 * time.Millisecond

// Close waits until peers have what was sent to them, within closeBound, closes the
// links and gives device and address back.
func (p *port) Close() error {
	if p.closed.Swap(true) {
		return nil
	}
	_ = p.listener.Close() // nobody comes any more
	for _, l := range p.every() {
		l.Close()
	}
	for begin := time.Now(); len(p.leaving) > 0; {
		p.look(nil) // all links are closed: nothing is delivered
		p.reap(time.Since(begin) > closeBound)
	}
	if p.watchdog != nil {
		p.watchdog.Stop()
	}
	return p.build.close()
}
