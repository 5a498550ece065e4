package endpointtest

import "fmt"

// Commands about requests without a message, and messages without a request.
var _ = family(map[string]command{
	"watch":   watch,
	"sendnow": sendNow,
})

// watch NAME a b [session=N]
func watch(t *Trace, a *arguments) error {
	name, n, _, addr, err := t.toward(a)
	if err != nil {
		return err
	}
	addr.Session = uint32(a.number("session", uint64(addr.Session)))
	h, err := n.Engine.Watch(addr, 0, nil)
	if err != nil {
		return err
	}
	t.requests[name] = &traced{name: name, node: n, handle: h}
	return nil
}

// sendnow a b match=N len=N: and whether it went.
func sendNow(t *Trace, a *arguments) error {
	from, to := t.node(a, 0), t.node(a, 1)
	if a.err != nil {
		return nil
	}
	addr, err := t.address(from, to)
	if err != nil {
		return err
	}
	t.sends++
	b := NewBuffer(a.sizes()...)
	Fill(&b.Vec, t.sends)
	if len(b.Vec.Rest) > 0 {
		return fmt.Errorf("one segment only")
	}
	t.printf("sent: %v", from.Engine.SendNow(b.Vec.First, addr, a.number("match", 0)))
	return nil
}
