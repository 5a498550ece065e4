package endpointtest

import (
	"fmt"
	"reflect"
	"strings"

	"gomx/endpoint"
)

// Commands that move frames and time, and commands that look.
var _ = family(map[string]command{
	"run":      run,
	"quiet":    quiet,
	"deliver":  deliver,
	"drop":     drop,
	"dup":      dup,
	"move":     move,
	"lose":     lose,
	"room":     room,
	"frames":   frames,
	"flush":    flush,
	"tick":     tick,
	"due":      due,
	"state":    state,
	"counters": counters,
	"check":    check,
})

func run(t *Trace, _ *arguments) error { t.world.Run(); return nil }

// quiet on|off: frames are not shown, or are.
func quiet(t *Trace, a *arguments) error {
	t.quiet = a.word(0) == "on"
	return nil
}

func (t *Trace) lane(a *arguments) (*Lane, *Node, *Node) {
	from, to := t.node(a, 0), t.node(a, 1)
	if a.err != nil {
		return nil, nil, nil
	}
	l := t.world.Lane(from, to)
	if l == nil {
		a.err = fmt.Errorf("no link")
	}
	return l, from, to
}

// deliver a b [n=N]
func deliver(t *Trace, a *arguments) error {
	if l, from, to := t.lane(a); l != nil {
		for range a.number("n", 1) {
			if !t.world.Deliver(from, to) {
				break
			}
		}
	}
	return nil
}

// drop a b [i=N]
func drop(t *Trace, a *arguments) error {
	return t.one(a, func(l *Lane, i int) { l.Remove(i) })
}

// dup a b [i=N]
func dup(t *Trace, a *arguments) error {
	return t.one(a, func(l *Lane, i int) { l.Duplicate(i) })
}

// move a b [i=N] to=N
func move(t *Trace, a *arguments) error {
	return t.one(a, func(l *Lane, i int) { l.Move(i, min(int(a.number("to", 0)), len(l.Queue)-1)) })
}

func (t *Trace) one(a *arguments, f func(*Lane, int)) error {
	l, _, _ := t.lane(a)
	if l == nil {
		return nil
	}
	i := int(a.number("i", 0))
	if i >= len(l.Queue) {
		return fmt.Errorf("only %d frames", len(l.Queue))
	}
	f(l, i)
	return nil
}

// lose a b on|off: everything sent from a to b is lost.
func lose(t *Trace, a *arguments) error {
	if l, _, _ := t.lane(a); l != nil {
		l.Lost = a.word(2) == "on"
	}
	return nil
}

// room a b n=N: frames that fit in the link from a to b; 0: any number.
func room(t *Trace, a *arguments) error {
	if l, _, _ := t.lane(a); l != nil {
		l.Capacity = int(a.number("n", 0))
	}
	return nil
}

// frames a b: those on their way.
func frames(t *Trace, a *arguments) error {
	if l, _, _ := t.lane(a); l != nil {
		for _, f := range l.Queue {
			t.printf("%v", f)
		}
	}
	return nil
}

// flush a
func flush(t *Trace, a *arguments) error {
	if n := t.node(a, 0); n != nil {
		n.Engine.Flush()
	}
	return nil
}

// tick N
func tick(t *Trace, a *arguments) error {
	t.world.Tick(endpoint.Tick(a.number("n", 1)))
	return nil
}

// due a
func due(t *Trace, a *arguments) error {
	n := t.node(a, 0)
	if n == nil {
		return nil
	}
	if d := n.Engine.NextDue(); d != endpoint.Never {
		t.printf("in %d ticks", d-t.world.Now)
	} else {
		t.printf("never")
	}
	return nil
}

// state a
func state(t *Trace, a *arguments) error {
	if n := t.node(a, 0); n != nil {
		t.out.WriteString(n.Engine.DumpState())
	}
	return nil
}

// counters a: those that are not zero.
func counters(t *Trace, a *arguments) error {
	n := t.node(a, 0)
	if n == nil {
		return nil
	}
	v := reflect.ValueOf(n.Engine.Counters())
	var all []string
	for i := range v.NumField() {
		if c := v.Field(i).Uint(); c != 0 {
			all = append(all, fmt.Sprintf("%s %d", v.Type().Field(i).Name, c))
		}
	}
	if all == nil {
		all = []string{"none"}
	}
	t.printf("%s", strings.Join(all, ", "))
	return nil
}

// check: nothing may be left of the history.
func check(t *Trace, _ *arguments) error {
	clean := true
	for _, n := range t.world.Nodes {
		if n.Closed {
			continue
		}
		for _, what := range t.world.Leftovers(n) {
			clean = false
			t.printf("%s has %s", n.Name, what)
		}
	}
	if clean {
		t.printf("clean")
	}
	return nil
}
