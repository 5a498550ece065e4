package endpointtest

import (
	"fmt"

	"gomx/endpoint"
)

// Commands that make worlds, connect, disconnect and break them.
var _ = family(map[string]command{
	"world":      makeWorld,
	"connect":    connect,
	"iconnect":   iconnect,
	"disconnect": disconnect,
	"giveup":     giveUp,
	"goodbye":    goodbye,
	"close":      closeNode,
	"reopen":     reopen,
	"break":      breakLink,
	"dial":       redial,
	"medium":     medium,
	"pulls":      pulls,
})

// world a b [lossy] [heals] [pull] [eager=N] [copy=N] [frame=N] [room=N] [session=N]
// [unexpected=N] [timeout=N] [later] [tears] [fails] [quiet]
func makeWorld(t *Trace, a *arguments) error {
	*t = *emptyTrace()
	t.filter, t.quiet = 7, a.has("quiet")
	w := &World{Caps: Reliable(a.has("pull")), Capacity: int(a.number("room", 0))}
	if a.has("lossy") {
		w.Caps = Lossy(a.has("pull"))
	}
	if a.has("heals") {
		w.Caps = Healing(a.has("pull"))
	}
	w.Seen, w.Took = t.seen, t.took
	t.world = w
	t.media(a)
	for _, name := range a.plain {
		if len(name) == 1 {
			w.Add(name, t.config(a, len(w.Nodes)))
		}
	}
	return nil
}

func (t *Trace) config(a *arguments, i int) endpoint.Config {
	c := endpoint.Config{
		Filter: t.filter, Session: uint32(a.number("session", 0x100)) + uint32(i)*0x100,
		EagerLimit: -1, CopyLimit: -1,
		UnexpectedBytes:   int(a.number("unexpected", 0)),
		UnexpectedHeaders: int(a.number("headers", 0)),
		Backlog:           int(a.number("backlog", 0)),
		RequestTimeout:    endpoint.Tick(a.number("timeout", 0)),
		ContextBits:       uint8(a.number("contextbits", 0)), ContextShift: uint8(a.number("contextshift", 0)),
	}
	if _, ok := a.keyed["eager"]; ok {
		c.EagerLimit = int(a.number("eager", 0))
	}
	if _, ok := a.keyed["copy"]; ok {
		c.CopyLimit = int(a.number("copy", 0))
	}
	return c
}

func (t *Trace) seen(to, from *Node, f *Frame) {
	if !t.quiet {
		fmt.Fprintf(&t.out, "%s>%s %v", from.Name, to.Name, f)
	}
}

func (t *Trace) took(_ *Node) {
	if !t.quiet {
		t.printf("")
	}
}

// connect a b: connects and runs until quiet, without showing the frames.
func connect(t *Trace, a *arguments) error {
	from, to := t.node(a, 0), t.node(a, 1)
	if a.err != nil {
		return nil
	}
	quiet := t.quiet
	t.quiet = true
	h := from.Connect(to, uint32(a.number("filter", uint64(t.filter))), 0)
	t.world.Run()
	t.quiet = quiet
	var st endpoint.Status
	done, err := from.Engine.Test(h, &st)
	if !done {
		return fmt.Errorf("not complete: %v", err)
	}
	t.printf("%s to %s: %v", from.Name, to.Name, st.Code)
	return nil
}

// iconnect NAME a b [filter=N]
func iconnect(t *Trace, a *arguments) error {
	name, from, to := a.word(0), t.node(a, 1), t.world.Node(a.word(2))
	if from == nil {
		return nil
	}
	nic := uint64(0xfff)
	if to != nil {
		nic = to.NIC
	}
	h := from.Engine.Iconnect(nic, 0, uint32(a.number("filter", uint64(t.filter))), a.number("match", 0), nil)
	t.requests[name] = &traced{name: name, node: from, handle: h}
	return nil
}

// disconnect a b
func disconnect(t *Trace, a *arguments) error { return part(t, a, (*endpoint.Engine).Disconnect) }

// giveup a b
func giveUp(t *Trace, a *arguments) error { return part(t, a, (*endpoint.Engine).GiveUp) }

func part(t *Trace, a *arguments, end func(*endpoint.Engine, endpoint.Addr) error) error {
	from, to := t.node(a, 0), t.node(a, 1)
	if a.err != nil {
		return nil
	}
	addr, err := t.address(from, to)
	if err != nil {
		return err
	}
	return end(from.Engine, addr)
}

// toward reads NAME a b: the name of a request, whose it is, whom it is about, and the address under which a has b.
func (t *Trace) toward(a *arguments) (name string, from, to *Node, addr endpoint.Addr, err error) {
	if name, from, to = a.word(0), t.node(a, 1), t.node(a, 2); a.err == nil {
		addr, err = t.address(from, to)
		return name, from, to, addr, err
	}
	return name, from, to, addr, a.err
}

// address returns to's address as from knows it.
func (t *Trace) address(from, to *Node) (endpoint.Addr, error) {
	if from == to {
		return from.Engine.Self(), nil
	}
	addr, ok := from.Engine.AddrOf(from.PeerOf(to))
	if !ok {
		return addr, fmt.Errorf("%s does not know %s", from.Name, to.Name)
	}
	return addr, nil
}

func goodbye(t *Trace, a *arguments) error {
	if n := t.node(a, 0); n != nil {
		n.Engine.Goodbye()
	}
	return nil
}

// close a: says goodbye; the links go down once their frames are delivered.
func closeNode(t *Trace, a *arguments) error {
	n := t.node(a, 0)
	if n == nil {
		return nil
	}
	n.Engine.Goodbye()
	n.Closed = true
	for _, l := range t.world.Links {
		if l.ends[0].node == n || l.ends[1].node == n {
			l.Dead = true
		}
	}
	return nil
}

// reopen a [session=N]: a new incarnation; the others learn nothing yet.
func reopen(t *Trace, a *arguments) error {
	if n := t.node(a, 0); n != nil {
		c := t.config(a, 0)
		c.Session = uint32(a.number("session", 0x7000))
		n.Reopen(c)
	}
	return nil
}

// break a b [side=a]: the links between them die at once; one side may learn it
// before the other.
func breakLink(t *Trace, a *arguments) error {
	from, to := t.node(a, 0), t.node(a, 1)
	if a.err == nil {
		t.world.Break(from, to, t.world.Node(a.keyed["side"]))
	}
	return nil
}

// medium NAME [pull] [frame=N] [later] [tears] [fails]: what links are like that are
// made from now on, in a world that heals.
func medium(t *Trace, a *arguments) error {
	t.world.Caps = Healing(a.has("pull"))
	t.world.Caps.Name = a.word(0)
	t.media(a)
	return nil
}

// media reads what there is to say of links.
func (t *Trace) media(a *arguments) {
	w := t.world
	w.Caps.MaxFrame = int(a.number("frame", uint64(w.Caps.MaxFrame)))
	w.Caps.Eager = w.Caps.MaxFrame
	w.Pulls = PullNow
	for word, mode := range map[string]PullMode{"later": PullLater, "tears": PullTears, "fails": PullFails} {
		if a.has(word) {
			w.Pulls = mode
		}
	}
}

// pulls: those under way end.
func pulls(t *Trace, _ *arguments) error {
	t.world.FinishPulls()
	return nil
}

// dial: links that were asked for come up; with one=n, one side learns of one. With refused, nobody was open
// when they were asked for.
func redial(t *Trace, a *arguments) error {
	if a.has("refused") {
		t.world.Refuse()
		return nil
	}
	if one := a.number("one", 0); one > 0 {
		t.world.SettleOne(int(one - 1))
		return nil
	}
	t.world.Settle()
	return nil
}
