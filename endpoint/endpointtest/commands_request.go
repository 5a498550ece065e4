package endpointtest

import (
	"errors"
	"fmt"
	"math"

	"gomx/endpoint"
)

// Commands about requests.
var _ = family(map[string]command{
	"test":     test,
	"collect":  collect,
	"testany":  testAny,
	"cancel":   cancel,
	"abandon":  abandon,
	"detach":   detach,
	"forget":   forget,
	"buffered": buffered,
	"timeout":  timeout,
	"lifetime": lifetime,
	"peek":     peek,
	"pending":  pending,
})

// test NAME...
func test(t *Trace, a *arguments) error {
	for i := range a.plain {
		if r := t.request(a, i); r != nil {
			t.collect(r, true)
		}
	}
	return nil
}

// collect: tests every request and shows those that are complete.
func collect(t *Trace, _ *arguments) error {
	for _, name := range t.names() {
		if t.requests[name].visitor {
			continue
		}
		t.collect(t.requests[name], false)
	}
	return nil
}

func (t *Trace) collect(r *traced, pending bool) {
	var st endpoint.Status
	done, err := r.node.Engine.Test(r.handle, &st)
	switch {
	case errors.Is(err, endpoint.ErrBadRequest) && !pending:
	case err != nil:
		t.printf("%s: %v", r.name, err)
	case done:
		t.printf("%s: %s", r.name, t.outcome(r, &st))
		if !pending {
			delete(t.requests, r.name)
		}
	case pending:
		t.printf("%s: pending", r.name)
	}
}

func (t *Trace) outcome(r *traced, st *endpoint.Status) string {
	s := st.Code.String()
	if r.atomic != nil {
		return r.atomic.outcome(st)
	}
	if r.access != nil {
		return r.accessOutcome(st)
	}
	if r.buffer == nil && r.seed == 0 {
		return s
	}
	s += fmt.Sprintf(", match %#x, %d of %d bytes", st.Match, st.XferLength, st.MsgLength)
	if r.buffer == nil || (st.Code != endpoint.Success && st.Code != endpoint.Truncated) {
		return s
	}
	s += " from " + t.nameOf(r.node, st.Source)
	seed := r.buffer.Seed()
	if st.XferLength == 0 {
		seed = 0
	}
	if err := r.buffer.Check(seed, int(st.XferLength)); err != nil {
		return s + ", WRONG DATA: " + err.Error()
	}
	if st.XferLength > 0 {
		s += fmt.Sprintf(", message %d", seed)
	}
	return s
}

// testany a match=N mask=N
func testAny(t *Trace, a *arguments) error {
	n := t.node(a, 0)
	if n == nil {
		return nil
	}
	var st endpoint.Status
	found, err := n.Engine.TestAny(a.number("match", 0), a.number("mask", 0), &st)
	switch {
	case err != nil:
		return err
	case found:
		t.printf("%v, match %#x, %d bytes", st.Code, st.Match, st.XferLength)
	default:
		t.printf("nothing")
	}
	return nil
}

// cancel NAME
func cancel(t *Trace, a *arguments) error {
	r := t.request(a, 0)
	if r == nil {
		return nil
	}
	gone, err := r.node.Engine.Cancel(r.handle)
	switch {
	case err != nil:
		return err
	case gone:
		t.printf("%s: cancelled", r.name)
	default:
		t.printf("%s: too late", r.name)
	}
	return nil
}

// forget NAME
func forget(t *Trace, a *arguments) error {
	if r := t.request(a, 0); r != nil {
		return r.node.Engine.Forget(r.handle)
	}
	return nil
}

// abandon NAME
func abandon(t *Trace, a *arguments) error {
	r := t.request(a, 0)
	if r == nil {
		return nil
	}
	var st endpoint.Status
	fate, err := r.node.Engine.Abandon(r.handle, &st)
	if err == nil {
		t.printf("%s: %v", r.name, fate)
	}
	return err
}

// detach NAME: and writes to the memory that came back.
func detach(t *Trace, a *arguments) error {
	r := t.request(a, 0)
	if r == nil {
		return nil
	}
	mem, free, err := r.node.Engine.Detach(r.handle)
	switch {
	case err != nil:
		return err
	case !free:
		t.printf("%s: in use", r.name)
		return nil
	case mem == nil:
		t.printf("%s: nothing to detach", r.name)
		return nil
	}
	t.printf("%s: detached", r.name)
	if r.buffer == nil {
		Fill(&r.sent, r.seed+1)
		return nil
	}
	Fill(&r.buffer.Vec, 0)
	r.buffer = around(mem)
	return nil
}

// buffered NAME
func buffered(t *Trace, a *arguments) error {
	r := t.request(a, 0)
	if r == nil {
		return nil
	}
	is, err := r.node.Engine.Buffered(r.handle)
	if err != nil {
		return err
	}
	t.printf("%s: %v", r.name, is)
	return nil
}

// timeout NAME ticks=N
func timeout(t *Trace, a *arguments) error {
	if r := t.request(a, 0); r != nil {
		return r.node.Engine.SetTimeout(r.handle, endpoint.Tick(a.number("ticks", uint64(endpoint.Never))))
	}
	return nil
}

// lifetime a ticks=N: the default timeout of a's requests.
func lifetime(t *Trace, a *arguments) error {
	if n := t.node(a, 0); n != nil {
		n.Engine.SetDefaultTimeout(endpoint.Tick(a.number("ticks", 0)))
	}
	return nil
}

// peek a: names the oldest completed request.
func peek(t *Trace, a *arguments) error {
	n := t.node(a, 0)
	if n == nil {
		return nil
	}
	h, ok := n.Engine.Peek()
	for _, r := range t.requests {
		if ok && r.node == n && r.handle == h {
			t.printf("%s", r.name)
			return nil
		}
	}
	t.printf("nothing")
	return nil
}

// pending a: what is not complete.
func pending(t *Trace, a *arguments) error {
	n := t.node(a, 0)
	if n == nil {
		return nil
	}
	list, _ := n.Engine.Outstanding(math.MaxInt)
	for _, o := range list {
		who := "anyone"
		if o.Peer != (endpoint.Addr{}) {
			who = t.nameOf(n, o.Peer)
		}
		name := "forgotten"
		for _, r := range t.requests {
			if r.node == n && r.handle == o.Handle {
				name = r.name
			}
		}
		t.printf("%s: %s, %s, match %#x mask %#x, %d bytes: %s", name, o.Kind, who, o.Match, o.Mask, o.Bytes, o.Stage)
	}
	return nil
}
