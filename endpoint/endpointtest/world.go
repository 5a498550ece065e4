package endpointtest

import (
	"fmt"
	"strings"

	"gomx/endpoint"
	"gomx/transport/wire"
)

// World is a set of endpoints and the links between them.
type World struct {
	Caps     wire.Caps // of links made from now on
	Capacity int       // likewise
	Pulls    PullMode
	Nodes    []*Node
	Links    []*Link
	Now      endpoint.Tick

	// Seen, if set, is told of each frame before its receiver takes it, and Took
	// afterwards.
	Seen func(to *Node, from *Node, f *Frame)
	Took func(to *Node)

	dials []dial
	ups   []linkUp
	sent  int // frames that links took

	numbers uint64 // of the ends of links, given out so far
	strays  int    // memory descriptors that were used on another link than theirs

	recent strings.Builder
}

type dial struct {
	from *Node
	peer int32
	nic  uint64
	id   uint32
}

// linkUp is an end of a new link whose engine is yet to be told.
type linkUp struct {
	end     *End
	dialled bool
}

// Node is one endpoint of a world. It is its engine's host.
type Node struct {
	Name    string
	NIC     uint64
	Engine  *endpoint.Engine
	Closed  bool
	Handler func(in *endpoint.Incoming) endpoint.Action
	Dropped int // links given up

	world  *World
	ends   map[*End]bool // of its present life
	random uint64        // what Random returns: session numbers can be read in traces
}

// Add opens an endpoint. Its NIC id is cfg.NIC, or its number from 10 on.
func (w *World) Add(name string, cfg endpoint.Config) *Node {
	if cfg.NIC == 0 {
		cfg.NIC = uint64(len(w.Nodes) + 10)
	}
	n := &Node{Name: name, NIC: cfg.NIC, world: w, ends: map[*End]bool{}, random: uint64(cfg.Session)}
	n.Engine = endpoint.New(cfg, n)
	n.Engine.Advance(w.Now)
	w.Nodes = append(w.Nodes, n)
	return n
}

// Reopen replaces a node's engine by one of a new incarnation. Its links break;
// the other sides learn that when the test calls Break.
func (n *Node) Reopen(cfg endpoint.Config) {
	cfg.NIC = n.NIC
	for _, l := range n.world.Links {
		if l.ends[0].node == n || l.ends[1].node == n {
			l.Dead = true
		}
	}
	n.random = uint64(cfg.Session)
	n.Engine, n.ends, n.Closed = endpoint.New(cfg, n), map[*End]bool{}, false
	n.Engine.Advance(n.world.Now)
}

// Node returns the node of that name, or nil.
func (w *World) Node(name string) *Node {
	for _, n := range w.Nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// PeerOf returns m's number in n's engine.
func (n *Node) PeerOf(m *Node) int32 { return n.Engine.PeerOf(m.NIC, 0) }

// Connect starts a connect from n to m.
func (n *Node) Connect(m *Node, filter uint32, match uint64) endpoint.Handle {
	return n.Engine.Iconnect(m.NIC, 0, filter, match, nil)
}

// Dial implements endpoint.Host.
func (n *Node) Dial(peer int32, nic uint64, id uint32) {
	n.world.dials = append(n.world.dials, dial{n, peer, nic, id})
}

// Adopted implements endpoint.Host.
func (n *Node) Adopted(peer int32, link wire.Link) {
	if e, ok := link.(*End); ok {
		e.peer = peer
	}
}

// Random implements endpoint.Host.
func (n *Node) Random() uint64 { return n.random }

// Tick implements endpoint.Host.
func (n *Node) Tick() endpoint.Tick { return n.world.Now }

// Unexpected implements endpoint.Host.
func (n *Node) Unexpected(in *endpoint.Incoming) endpoint.Action {
	if n.Handler == nil {
		return endpoint.Continue
	}
	return n.Handler(in)
}

// Drop implements endpoint.Host: it kills the link. The other side may still read
// what was sent.
func (n *Node) Drop(peer int32, link wire.Link, _ bool) {
	n.Dropped++
	e := link.(*End)
	e.link.Dead, e.up, e.told = true, false, true
	e.release()
}

// Settle answers the dials that were asked for and tells the engines of new
// links. It reports whether there were any.
func (w *World) Settle() bool {
	any := false
	for len(w.dials)+len(w.ups) > 0 {
		w.SettleOne(0)
		any = true
	}
	return any
}

// SettleOne makes the links that were asked for, and tells one side of one of
// them.
func (w *World) SettleOne(which int) {
	for len(w.dials) > 0 {
		d := w.dials[0]
		w.dials = w.dials[1:]
		w.answer(d)
	}
	if len(w.ups) == 0 {
		return
	}
	i := which % len(w.ups)
	up := w.ups[i]
	w.ups = append(w.ups[:i], w.ups[i+1:]...)
	if e := up.end; !e.node.Closed {
		e.up = true
		e.peer = e.node.Engine.LinkOwner(e.far.node.NIC, 0, e, up.dialled)
		e.node.Engine.LinkUp(e.peer, e, up.dialled)
		if e.told && e.up {
			e.tell()
		}
	}
}

// Refuse answers the dials that were asked for as if nobody were open.
func (w *World) Refuse() {
	dials := w.dials
	w.dials = nil
	for _, d := range dials {
		d.from.Engine.LinkFailed(d.peer, endpoint.EndpointClosed)
	}
}

func (w *World) answer(d dial) {
	for _, n := range w.Nodes {
		if n.NIC == d.nic && d.id == 0 && !n.Closed {
			near, far := w.Join(d.from, n)
			w.ups = append(w.ups, linkUp{near, true}, linkUp{far, false})
			return
		}
	}
	d.from.Engine.LinkFailed(d.peer, endpoint.EndpointClosed)
}

// Join makes a link between two nodes. Their engines are not told.
func (w *World) Join(a, b *Node) (near, far *End) {
	l := new(Link)
	near, far = &l.ends[0], &l.ends[1]
	*near = End{link: l, node: a, far: far, caps: w.Caps, Pulls: w.Pulls, number: w.numbers + 1}
	*far = End{link: l, node: b, far: near, caps: w.Caps, Pulls: w.Pulls, number: w.numbers + 2}
	w.numbers += 2
	near.In.Capacity, far.In.Capacity = w.Capacity, w.Capacity
	w.Links = append(w.Links, l)
	a.ends[near], b.ends[far] = true, true
	return near, far
}

// Lane returns the queue of frames from one node to another, over their newest
// link that is alive, or nil.
func (w *World) Lane(from, to *Node) *Lane {
	if e := w.end(to, from); e != nil {
		return &e.In
	}
	return nil
}

func (w *World) end(at, far *Node) *End {
	for i := len(w.Links) - 1; i >= 0; i-- {
		for j := range w.Links[i].ends {
			e := &w.Links[i].ends[j]
			if !w.Links[i].Dead && e.node == at && e.far.node == far {
				return e
			}
		}
	}
	return nil
}

// Deliver gives the first frame of the lane to its receiver. False: there is
// none, or its receiver has progression disabled.
func (w *World) Deliver(from, to *Node) bool {
	if e := w.end(to, from); e != nil {
		return w.deliver(e)
	}
	return false
}

func (w *World) deliver(e *End) bool {
	if len(e.In.Queue) == 0 || e.node.Closed || !e.up || e.node.Engine.Paused() {
		return false
	}
	f := e.In.Queue[0]
	if w.Seen != nil {
		w.Seen(e.node, e.far.node, f)
	}
	engine := e.node.Engine
	inline := engine.InlinePending()
	switch more := engine.Frame(e.peer, &f.Header, f.Data); {
	case more && engine.Paused():
		panic("endpointtest: Frame does not say that progression is disabled")
	case !more && !engine.Paused() && (!inline || engine.InlinePending()):
		panic("endpointtest: Frame wants nothing more without a reason")
	}
	if w.Took != nil {
		w.Took(e.node)
	}
	for i := range e.In.Queue {
		if e.In.Queue[i] == f {
			e.In.Remove(i)
			break
		}
	}
	return true
}

// Break kills all links between two nodes and tells those who are open. With at,
// only that one of the two is told; the other learns it from Run.
func (w *World) Break(a, b, at *Node) {
	for _, l := range w.Links {
		n, m := l.ends[0].node, l.ends[1].node
		if (n == a && m == b) || (n == b && m == a) {
			w.down(l, at)
		}
	}
}

// down kills a link and tells those of its ends that are open, or only the one
// at a node. Frames that had arrived are lost.
func (w *World) down(l *Link, at *Node) {
	l.Dead = true
	for i := range l.ends {
		if e := &l.ends[i]; at == nil || e.node == at {
			e.told = true
			e.tell()
		}
	}
}

// tell has the node of a dead link's end learn of it. From then on the link leaves
// its memory alone; what the node has exported is freed when it has heard.
func (e *End) tell() {
	e.In.Queue, e.started = nil, nil
	if e.node.ends[e] && e.up && !e.node.Closed {
		e.node.Engine.LinkDown(e.peer, e)
	}
	e.release()
}

// Tick moves the clock of all nodes.
func (w *World) Tick(n endpoint.Tick) {
	w.Now += n
	for _, node := range w.Nodes {
		if !node.Closed {
			node.Engine.Advance(w.Now)
		}
	}
}

// Run delivers everything until nothing moves. Time stands still.
func (w *World) Run() {
	const most = 10000
	for rounds := 0; w.Step(); rounds++ {
		if rounds == most-5 {
			w.remember()
		}
		if rounds > most {
			panic("endpointtest: the world does not come to rest: " + w.recent.String())
		}
	}
}

// remember writes down the frames of a world that does not come to rest.
func (w *World) remember() {
	w.Seen = func(to, from *Node, f *Frame) {
		fmt.Fprintf(&w.recent, "\n%s>%s %v session=%#x", from.Name, to.Name, f, f.Header.Session)
	}
	w.Took = nil
	for _, n := range w.Nodes {
		w.recent.WriteString("\n" + n.Name + ":\n" + n.Engine.DumpState())
	}
}

// Step does one round of what Run repeats, and reports whether anything moved.
func (w *World) Step() bool {
	moved, sent := w.Settle(), w.sent
	for i := 0; i < len(w.Links); i++ {
		moved = w.stepLink(w.Links[i]) || moved
	}
	for _, n := range w.Nodes {
		if n.Closed || n.Engine.Paused() {
			continue
		}
		n.Engine.Flush()
		if n.Engine.NextDue() <= w.Now {
			n.Engine.Advance(w.Now)
			moved = true
		}
	}
	return moved || w.sent != sent
}

func (w *World) stepLink(l *Link) bool {
	moved := false
	for j := range l.ends {
		e := &l.ends[j]
		for !e.told && w.deliver(e) {
			moved = true
		}
		if e.finishPulls() > 0 {
			moved = true
		}
	}
	for j := range l.ends {
		if e := &l.ends[j]; l.Dead && !e.told {
			w.down(l, e.node)
			moved = true
		}
	}
	return moved
}

// Lossy returns the capabilities of a medium that loses and reorders.
func Lossy(pull bool) wire.Caps {
	return wire.Caps{Name: "lossy", MaxFrame: 2048, Eager: 2048, Pull: pull}
}

// Reliable returns the capabilities of a medium that does not.
func Reliable(pull bool) wire.Caps {
	return wire.Caps{Name: "safe", MaxFrame: 2048, Eager: 2048, Ordered: true, Reliable: true, Pull: pull}
}

// Healing returns the capabilities of a medium that does not, but whose links
// break for passing reasons.
func Healing(pull bool) wire.Caps {
	c := Reliable(pull)
	c.Name, c.Heals = "healing", true
	return c
}

// String prints the node's name.
func (n *Node) String() string { return fmt.Sprintf("node %s", n.Name) }
