package endpointtest

import (
	"fmt"

	"gomx/endpoint"
)

// Commands about who may begin a session.
var _ = family(map[string]command{
	"listen":   listen,
	"unlisten": unlisten,
	"call":     call,
	"visitor":  visitor,
	"accept":   accept,
	"refuse":   refuse,
	"answer":   answer,
})

// listen a
func listen(t *Trace, a *arguments) error {
	if n := t.node(a, 0); n != nil {
		if _, ok := n.Engine.Listen(); !ok {
			t.printf("%s listens already", n.Name)
		}
	}
	return nil
}

// unlisten a [shut]
func unlisten(t *Trace, a *arguments) error {
	if n := t.node(a, 0); n != nil {
		n.Engine.StopListening(a.has("shut"))
	}
	return nil
}

// call NAME a b [data=TEXT] [room=N] [filter=N]: a connect with data, and room for an answer.
func call(t *Trace, a *arguments) error {
	name, from, to := a.word(0), t.node(a, 1), t.node(a, 2)
	if a.err != nil {
		return nil
	}
	r := &traced{name: name, node: from, answer: make([]byte, a.number("room", 100))}
	r.handle = from.Engine.Call(&endpoint.Calling{
		NIC: to.NIC, Filter: uint32(a.number("filter", uint64(t.filter))), Data: []byte(a.keyed["data"]), Answer: r.answer,
	})
	t.requests[name] = r
	return nil
}

// visitor NAME a: takes the oldest connection request of a.
func visitor(t *Trace, a *arguments) error {
	name, n := a.word(0), t.node(a, 1)
	if n == nil {
		return nil
	}
	v, ok := n.Engine.TakeVisitor()
	if !ok {
		t.printf("nobody")
		return nil
	}
	who := "somebody"
	for _, m := range t.world.Nodes {
		if m.NIC == v.NIC && v.Endpoint == 0 {
			who = m.Name
		}
	}
	t.printf("%s is %s, %q, link %v", name, who, v.Data, n.Engine.VisitorLink(v.Handle) != nil)
	t.requests[name] = &traced{name: name, node: n, handle: v.Handle, visitor: true}
	return nil
}

// accept NAME [data=TEXT]
func accept(t *Trace, a *arguments) error {
	r := t.request(a, 0)
	if r == nil {
		return nil
	}
	addr, code, err := r.node.Engine.Accept(r.handle, []byte(a.keyed["data"]))
	if err == nil {
		t.printf("%s: %v, %s", r.name, code, t.nameOf(r.node, addr))
	}
	return err
}

// refuse NAME [data=TEXT]
func refuse(t *Trace, a *arguments) error {
	if r := t.request(a, 0); r != nil {
		return r.node.Engine.Refuse(r.handle, []byte(a.keyed["data"]))
	}
	return nil
}

// answer NAME: collects a call.
func answer(t *Trace, a *arguments) error {
	r := t.request(a, 0)
	if r == nil {
		return nil
	}
	var st endpoint.Status
	switch done, err := r.node.Engine.Test(r.handle, &st); {
	case err != nil:
		return err
	case !done:
		t.printf("%s: pending", r.name)
	default:
		t.printf("%s: %v, %q%s", r.name, st.Code, r.answer[:st.XferLength], more(&st))
		delete(t.requests, r.name)
	}
	return nil
}

func more(st *endpoint.Status) string {
	if st.XferLength == st.MsgLength {
		return ""
	}
	return fmt.Sprintf(" of %d bytes", st.MsgLength)
}
