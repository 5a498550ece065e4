package endpointtest

import (
	"fmt"
	"strconv"
	"strings"

	"gomx/endpoint"
)

// Commands about completion counters. Operations that begin at one have when=COUNTER:N.
var _ = family(map[string]command{
	"counter":   openCounter,
	"uncounter": closeCounter,
	"count":     countRequests,
	"countputs": countPuts,
	"increment": increment,
	"counted":   counted,
	"threshold": threshold,
})

// tracedCounter is a counter of a trace.
type tracedCounter struct {
	node *Node
	id   endpoint.QueueID
}

func (t *Trace) counter(name string, a *arguments) *tracedCounter {
	c := t.counters[name]
	if c == nil && a.err == nil {
		a.err = fmt.Errorf("no counter %q", name)
	}
	return c
}

// when reads when=COUNTER:N, and reports whether it is there.
func (t *Trace) when(a *arguments) (endpoint.Trigger, bool) {
	name, number, ok := strings.Cut(a.keyed["when"], ":")
	if !ok {
		return endpoint.Trigger{}, false
	}
	c := t.counter(name, a)
	n, err := strconv.ParseUint(number, 0, 64)
	if err != nil || c == nil {
		a.err = fmt.Errorf("no trigger %q", a.keyed["when"])
		return endpoint.Trigger{}, false
	}
	return endpoint.Trigger{Counter: c.id, At: n}, true
}

// counter NAME a
func openCounter(t *Trace, a *arguments) error {
	name, n := a.word(0), t.node(a, 1)
	if a.err == nil {
		t.counters[name] = &tracedCounter{n, n.Engine.OpenCounter()}
	}
	return nil
}

// uncounter NAME: gives it back.
func closeCounter(t *Trace, a *arguments) error {
	if c := t.counter(a.word(0), a); c != nil {
		c.node.Engine.CloseQueue(c.id)
	}
	return nil
}

// count COUNTER NAME...: has requests be counted.
func countRequests(t *Trace, a *arguments) error {
	c := t.counter(a.word(0), a)
	if c == nil {
		return nil
	}
	var handles []endpoint.Handle
	for i := range a.plain[1:] {
		r := t.request(a, i+1)
		if r == nil {
			return nil
		}
		handles = append(handles, r.handle)
	}
	return c.node.Engine.Count(c.id, len(handles), func(i int) endpoint.Handle { return handles[i] })
}

// countputs COUNTER WINDOW
func countPuts(t *Trace, a *arguments) error {
	c, w := t.counter(a.word(0), a), t.window(a.word(1), a)
	if c != nil && w != nil && !c.node.Engine.CountPuts(w.id, c.id) {
		return fmt.Errorf("there is no such window")
	}
	return nil
}

// increment COUNTER by=N
func increment(t *Trace, a *arguments) error {
	if c := t.counter(a.word(0), a); c != nil {
		c.node.Engine.Increment(c.id, a.number("by", 1))
	}
	return nil
}

// counted COUNTER
func counted(t *Trace, a *arguments) error {
	if c := t.counter(a.word(0), a); c != nil {
		successes, failures := c.node.Engine.Counts(c.id)
		t.printf("%d successes, %d failures", successes, failures)
	}
	return nil
}

// threshold NAME COUNTER n=N
func threshold(t *Trace, a *arguments) error {
	name, c := a.word(0), t.counter(a.word(1), a)
	if c != nil {
		t.requests[name] = &traced{name: name, node: c.node, handle: c.node.Engine.Threshold(c.id, a.number("n", 0), 0, nil)}
	}
	return nil
}
