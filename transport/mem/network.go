package mem

import (
	"fmt"
	"sync"
	"sync/atomic"

	"gomx/transport"
	"gomx/transport/wire"
)

// Defaults of Options.
const (
	DefaultDepth    = 256
	DefaultMaxFrame = 64 << 10
	DefaultEager    = 32 << 10
)

// Options of a Network. The zero value is an ordered, reliable medium with Pull.
type Options struct {
	Depth    int // frames that fit in a link each way; 0 is DefaultDepth
	MaxFrame int // largest payload of a frame, bytes; 0 is DefaultMaxFrame
	Eager    int // suggested eager limit, bytes, at most MaxFrame; 0 is DefaultEager or MaxFrame

	// These take a capability away from what links promise, so that an engine
	// can be made to do the work itself.
	Unordered, Unreliable, NoPull bool

	// Heals has a cut break the links that lead across it, as cables and
	// connections break: what is under way is lost, the link goes down at
	// both sides, and another one can be dialled when the cut is over.
	Heals bool

	// Pulls, if not zero, has pulls take time.
	Pulls Pulls

	// Poison overwrites each payload when its handler has returned, which
	// uncovers handlers that keep it.
	Poison bool

	// Faults, if not zero, makes the medium a lossy one.
	Faults Faults
}

// Network is a medium that reaches all endpoints opened on it. It implements
// transport.Transport, and its methods may be called concurrently.
type Network struct {
	opt  Options
	caps wire.Caps

	mu    sync.Mutex
	ports map[transport.Address]*Port
	cuts  map[pair]*atomic.Bool
	links uint64 // made so far; numbers the random streams of the lanes
}

// pair names two endpoints, the smaller address first.
type pair struct{ low, high transport.Address }

var _ transport.Transport = (*Network)(nil)

// NewNetwork makes a network with nobody on it. It panics if an option is out of
// range: negative sizes, an eager limit above MaxFrame, chances outside 0 to 1.
func NewNetwork(o Options) *Network {
	if o.Depth == 0 {
		o.Depth = DefaultDepth
	}
	if o.MaxFrame == 0 {
		o.MaxFrame = DefaultMaxFrame
	}
	if o.Eager == 0 {
		o.Eager = min(DefaultEager, o.MaxFrame)
	}
	if o.Depth < 0 || o.MaxFrame < 0 || o.Eager < 0 || o.Eager > o.MaxFrame || !o.Faults.valid() || !o.Pulls.valid() {
		panic(fmt.Sprintf("mem: bad options %+v", o))
	}
	lossy := o.Faults != Faults{}
	return &Network{
		opt: o,
		caps: wire.Caps{
			Name: "mem", MaxFrame: o.MaxFrame, Eager: o.Eager,
			Ordered: !lossy && !o.Unordered, Reliable: !lossy && !o.Unreliable, Pull: !lossy && !o.NoPull,
			Heals: !lossy && o.Heals,
		},
		ports: make(map[transport.Address]*Port),
		cuts:  make(map[pair]*atomic.Bool),
	}
}

// Name returns "mem".
func (n *Network) Name() string { return "mem" }

// Available returns nil: memory is everywhere.
func (n *Network) Available() error { return nil }

// Open puts an endpoint on the network. The port it returns is a *Port. The
// error is transport.ErrBusy if the address is taken. o.Bell may be nil.
func (n *Network) Open(o transport.Open) (transport.Port, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ports[o.Self] != nil {
		return nil, fmt.Errorf("mem: open %v: %w", o.Self, transport.ErrBusy)
	}
	p := &Port{net: n, self: o.Self, session: o.Session, events: o.Events, bell: o.Bell}
	p.links.Store(new([]*link))
	n.ports[o.Self] = p
	return p, nil
}

// SetCut cuts a and b off from each other, or joins them again. While the cut lasts, a
// lossy network loses what is sent between the two. A reliable network delays
// everything, including the news of a close, and a network that heals breaks the links
// between them. All of them refuse to dial, with transport.ErrNoRoute.
func (n *Network) SetCut(a, b transport.Address, cut bool) {
	n.mu.Lock()
	n.cutBetween(a, b).Store(cut)
	ends := [...]*Port{n.ports[a], n.ports[b]}
	if cut && n.caps.Heals {
		ends[0].breakLinks(b)
		ends[1].breakLinks(a)
	}
	n.mu.Unlock()
	for _, p := range ends {
		if p != nil {
			p.ring()
		}
	}
}

// cutBetween returns the switch of a pair. Network.mu is held.
func (n *Network) cutBetween(a, b transport.Address) *atomic.Bool {
	k := pair{a, b}
	if b.NIC < a.NIC || b.NIC == a.NIC && b.Endpoint < a.Endpoint {
		k = pair{b, a}
	}
	cut := n.cuts[k]
	if cut == nil {
		cut = new(atomic.Bool)
		n.cuts[k] = cut
	}
	return cut
}

// connect makes the two ends of a link between p and the port at peer.
func (n *Network) connect(p *Port, peer transport.Address) (near, far *link, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	q := n.ports[peer]
	cut := n.cutBetween(p.self, peer)
	switch {
	case n.ports[p.self] != p:
		return nil, nil, transport.ErrClosed
	case cut.Load():
		return nil, nil, transport.ErrNoRoute
	case q == nil:
		return nil, nil, transport.ErrNoPeer
	}
	n.links++
	out := newLane(n, q, cut, 2*n.links)
	back := newLane(n, p, cut, 2*n.links+1)
	near = &link{port: p, address: q.self, session: q.session, in: back, out: out, number: 2 * n.links}
	far = &link{port: q, address: p.self, session: p.session, in: out, out: back, number: 2*n.links + 1}
	near.pulls.dice, far.pulls.dice = n.opt.Pulls.dice(near.number), n.opt.Pulls.dice(far.number)
	near.other, far.other = far, near
	p.setLinks(append(p.copyLinks(), near))
	q.setLinks(append(q.copyLinks(), far))
	return near, far, nil
}
