package endpointtest

import (
	"fmt"

	"gomx/endpoint"
	"gomx/match"
	"gomx/transport/wire"
)

// Commands that start and look for messages.
var _ = family(map[string]command{
	"send":         send,
	"sends":        sends,
	"recv":         recv,
	"recvdirected": recvDirected,
	"recvfrom":     recvFrom,
	"inline":       inline,
	"probe":        probe,
	"claim":        claim,
	"recvclaim":    recvClaim,
	"handler":      handler,
	"pause":        pause,
})

// send NAME a b match=N len=N|cut=N,N [sync|acked] [when=COUNTER:N]
func send(t *Trace, a *arguments) error {
	name, from, _, addr, err := t.toward(a)
	if err != nil {
		return err
	}
	if session, ok := a.keyed["session"]; ok {
		addr.Session = uint32(a.number("session", 0))
		_ = session
	}
	t.sends++
	b := NewBuffer(a.sizes()...)
	Fill(&b.Vec, t.sends)
	o := endpoint.Outgoing{First: b.Vec.First, To: addr, Match: a.number("match", 0)}
	opts := endpoint.SendOptions{Rest: b.Vec.Rest, Level: a.level()}
	var h endpoint.Handle
	if when, triggered := t.when(a); triggered {
		h, err = from.Engine.SendAt(when, &o, &opts)
	} else {
		h, err = from.Engine.Send(&o, &opts)
	}
	if err != nil {
		return err
	}
	t.requests[name] = &traced{name: name, node: from, handle: h, seed: t.sends, sent: b.Vec}
	return nil
}

// level is when a send completes.
func (a *arguments) level() endpoint.Level {
	switch {
	case a.has("sync"):
		return endpoint.Matched
	case a.has("acked"):
		return endpoint.Acknowledged
	}
	return endpoint.BufferFree
}

// sends PREFIX a b count=N match=N len=N: N sends with matches from N on.
func sends(t *Trace, a *arguments) error {
	prefix, first := a.word(0), a.number("match", 0)
	for i := range a.number("count", 1) {
		one := *a
		one.plain = append([]string{fmt.Sprintf("%s%d", prefix, i+1)}, a.plain[1:]...)
		one.keyed = map[string]string{"match": fmt.Sprint(first + i), "len": a.keyed["len"]}
		if err := send(t, &one); err != nil {
			return err
		}
	}
	return nil
}

// recv NAME a match=N [mask=N] len=N|cut=N,N [count=N]
func recv(t *Trace, a *arguments) error {
	name, n := a.word(0), t.node(a, 1)
	if a.err != nil {
		return nil
	}
	count := a.number("count", 0)
	if count == 0 {
		return t.post(name, n, a.number("match", 0), a.number("mask", match.MaskNone), a.sizes())
	}
	for i := range count {
		err := t.post(fmt.Sprintf("%s%d", name, i+1), n, a.number("match", 0)+i, a.number("mask", match.MaskNone), a.sizes())
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *Trace) post(name string, n *Node, value, mask uint64, sizes []int) error {
	b := NewBuffer(sizes...)
	h, err := n.Engine.Recv(&endpoint.Posting{First: b.Vec.First, Value: value, Mask: mask}, &endpoint.RecvOptions{Rest: b.Vec.Rest})
	return t.posted(name, n, b, h, err)
}

// posted remembers a receive.
func (t *Trace) posted(name string, n *Node, b *Buffer, h endpoint.Handle, err error) error {
	if err == nil {
		t.requests[name] = &traced{name: name, node: n, handle: h, buffer: b}
	}
	return err
}

// recvdirected NAME a b match=N [mask=N] len=N|cut=N,N [tied]: a receive of a's for messages of b.
func recvDirected(t *Trace, a *arguments) error {
	name, n, _, addr, err := t.toward(a)
	if err != nil {
		return err
	}
	value, mask := a.number("match", 0), a.number("mask", match.MaskNone)
	b := NewBuffer(a.sizes()...)
	h, err := n.Engine.RecvDirected(&endpoint.Posting{First: b.Vec.First, Value: value, Mask: mask}, &endpoint.RecvOptions{Rest: b.Vec.Rest, Tied: a.has("tied"), From: addr})
	return t.posted(name, n, b, h, err)
}

// recvfrom NAME a b match=N [mask=N] len=N|cut=N,N [session=N]: a receive of a's, tied to b.
func recvFrom(t *Trace, a *arguments) error {
	name, n, _, addr, err := t.toward(a)
	if err != nil {
		return err
	}
	addr.Session = uint32(a.number("session", uint64(addr.Session)))
	value, mask := a.number("match", 0), a.number("mask", match.MaskNone)
	b := NewBuffer(a.sizes()...)
	h, err := n.Engine.Recv(&endpoint.Posting{First: b.Vec.First, Value: value, Mask: mask}, &endpoint.RecvOptions{Rest: b.Vec.Rest, Tied: true, From: addr})
	return t.posted(name, n, b, h, err)
}

// inline NAME a b match=N [mask=N] len=N [n=N]: an inline receive of a's, tied to b, while n frames of b's are delivered.
func inline(t *Trace, a *arguments) error {
	name, n, peer, addr, err := t.toward(a)
	if err != nil {
		return err
	}
	value, mask := a.number("match", 0), a.number("mask", match.MaskNone)
	b := NewBuffer(a.sizes()...)
	if !n.Engine.RecvInline(&endpoint.Posting{First: b.Vec.First, Value: value, Mask: mask}, addr) {
		t.printf("%s: is to be posted", name)
		return nil
	}
	for range a.number("n", 0) {
		t.world.Deliver(peer, n)
	}
	got, h, err := n.Engine.EndInline()
	if h != 0 || err != nil {
		t.printf("%s: posted", name)
		return t.posted(name, n, b, h, err)
	}
	if err := b.Check(b.Seed(), got); err != nil {
		t.printf("%s: WRONG DATA: %v", name, err)
	}
	t.printf("%s: %d bytes inline, message %d", name, got, b.Seed())
	return nil
}

// probe a [match=N] [mask=N]
func probe(t *Trace, a *arguments) error {
	n := t.node(a, 0)
	if n == nil {
		return nil
	}
	var st endpoint.Status
	found, err := n.Engine.Probe(a.number("match", 0), a.number("mask", 0), &st)
	switch {
	case err != nil:
		return err
	case !found:
		t.printf("nothing")
	default:
		t.printf("match %#x bytes %d from %s", st.Match, st.MsgLength, t.nameOf(n, st.Source))
	}
	return nil
}

// claim NAME a [match=N] [mask=N]: takes a message out of matching.
func claim(t *Trace, a *arguments) error {
	name, n := a.word(0), t.node(a, 1)
	if a.err != nil {
		return nil
	}
	var st endpoint.Status
	c, found, err := n.Engine.Claim(a.number("match", 0), a.number("mask", 0), &st)
	switch {
	case err != nil:
		return err
	case !found:
		t.printf("nothing")
	default:
		t.printf("%s: match %#x bytes %d from %s", name, st.Match, st.MsgLength, t.nameOf(n, st.Source))
		t.claims[name] = c
	}
	return nil
}

// recvclaim NAME a CLAIM len=N|cut=N,N: receives a claimed message.
func recvClaim(t *Trace, a *arguments) error {
	name, n := a.word(0), t.node(a, 1)
	if a.err != nil {
		return nil
	}
	b := NewBuffer(a.sizes()...)
	h, err := n.Engine.RecvClaimed(b.Vec, t.claims[a.word(2)], nil)
	return t.posted(name, n, b, h, err)
}

func (t *Trace) nameOf(n *Node, a endpoint.Addr) string {
	nic, _, _ := n.Engine.Locate(a)
	for _, m := range t.world.Nodes {
		if m.NIC == nic {
			return m.Name
		}
	}
	return "?"
}

// handler a off | continue | finished | recv NAME len=N | send NAME b match=N len=N |
// detach NAME | disconnect: what the unexpected handler of a does from now on.
func handler(t *Trace, a *arguments) error {
	n := t.node(a, 0)
	if n == nil {
		return nil
	}
	what := a.word(1)
	n.Engine.SetHandler(what != "off")
	n.Handler = func(in *endpoint.Incoming) endpoint.Action {
		fmt.Fprintf(&t.out, " [handler of %s: match %#x bytes %d from %s, %s]",
			n.Name, in.Match, in.Length, t.nameOf(n, in.Source), dataText(in))
		if err := t.handle(n, in, what, a); err != nil {
			fmt.Fprintf(&t.out, " [%v]", err)
		}
		if what == "finished" {
			return endpoint.Finished
		}
		return endpoint.Continue
	}
	return nil
}

func dataText(in *endpoint.Incoming) string {
	switch {
	case in.Data == nil && in.Length == 0:
		return "empty"
	case in.Data == nil:
		return "no data"
	case len(in.Data) != int(in.Length):
		return fmt.Sprintf("%d bytes of data", len(in.Data))
	}
	for i := range in.Data {
		if in.Data[i] != byteOf(int(in.Data[0]), i) {
			return "data is wrong"
		}
	}
	return "with data"
}

func (t *Trace) handle(n *Node, in *endpoint.Incoming, what string, a *arguments) error {
	switch what {
	case "recv":
		return t.post(a.word(2), n, in.Match, match.MaskNone, a.sizes())
	case "send":
		one := *a
		one.plain = append([]string{a.word(2), n.Name}, a.plain[3:]...)
		return send(t, &one)
	case "detach":
		one := *a
		one.plain = a.plain[2:]
		return detach(t, &one)
	case "disconnect":
		return n.Engine.Disconnect(in.Source)
	case "pause":
		n.Engine.Pause(true)
	}
	return nil
}

// pause a on|off
func pause(t *Trace, a *arguments) error {
	if n := t.node(a, 0); n != nil {
		n.Engine.Pause(a.word(1) == "on")
	}
	return nil
}

var _ wire.Link = (*End)(nil)
