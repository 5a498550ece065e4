package mx

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gomx/endpoint/driver"
	"gomx/transport"
	"gomx/transport/wire"
)

// MaxContexts is the largest number of contexts of an endpoint.
const MaxContexts = 16

// contextNames is the value of WithContexts: the number of contexts and the names of some.
type contextNames struct {
	number int
	names  []string
}

// WithContexts opens the endpoint with several contexts, from 1 to MaxContexts: goroutines that each use one of their own share no
// lock. OpenEndpoint returns the first context, which leads to the others (Endpoint.ContextAt). Each is an Endpoint, with its own
// matching, unexpected messages, requests, windows, handlers, counters and progress; they share the address, the filter and
// Close. Peers connect once, with the address of the endpoint, and choose a context by its index, by its name, or by a hash of
// the match information: EndpointAddr.ContextAt, ContextNamed, ContextFor. The names, if there are any, belong to the first
// contexts; they differ, and take no more than 255 bytes together, with one between two. SingleThreaded holds for each context
// by itself.
//
// An endpoint with id e and n contexts takes the ids e to e+n-1, which nobody else can open. A program that decides about connects itself
// (Listen, Admit) is asked for each of them, with the data of ConnectWith each time; if it refuses one, the connect fails as a whole.
// MX does not have it.
func WithContexts(number int, names ...string) Param {
	return Param{ParamContexts, contextNames{number, slices.Clone(names)}}
}

// String is for errors.
func (c contextNames) String() string {
	return strings.Join(append([]string{fmt.Sprint(c.number)}, c.names...), ", ")
}

func checkContexts(c contextNames) error {
	switch {
	case c.number < 1 || c.number > MaxContexts:
		return fmt.Errorf("want from 1 to %d contexts", MaxContexts)
	case len(c.names) > c.number:
		return errors.New("want no more names than contexts")
	case len(strings.Join(c.all(), " ")) > wire.MaxContextNames:
		return fmt.Errorf("want names that take at most %d bytes together, with one between two", wire.MaxContextNames)
	}
	for i, name := range c.names {
		if name != "" && slices.Contains(c.names[:i], name) {
			return fmt.Errorf("name %q is there twice", name)
		}
		if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) {
			return fmt.Errorf("name %q has control characters", name)
		}
	}
	return nil
}

// all returns a name for each context.
func (c contextNames) all() []string {
	return append(slices.Clone(c.names), make([]string, max(0, c.number-len(c.names)))...)
}

// contexts are all contexts of one endpoint.
type contexts struct {
	list []*Endpoint
	said wire.Contexts // by the first

	closed atomic.Bool
}

// several returns the number of contexts that were asked for, if it is not the usual one.
func (s *settings) several() (n uint32, ok bool) {
	return max(1, uint32(s.contexts.number)), s.contexts.number > 1 || len(s.contexts.names) > 0
}

// openSeveral opens an endpoint with several contexts: at an id, or with whichever at the first one that is free, of those up to it.
func (c choice) openSeveral(at *site, whichever bool, id uint32, s *settings) (ep *Endpoint, err error) {
	if !whichever {
		ep, err = c.openContexts(at, id, s)
		return ep, s.taken(err, at.board.Name, id, uint32(len(s.contexts.all())), false)
	}
	for try := range anyIDs(id) {
		if ep, err = c.openContexts(at, try, s); !errors.Is(err, transport.ErrBusy) {
			break
		}
	}
	return ep, s.taken(err, at.board.Name, id, uint32(len(s.contexts.all())), true)
}

// openContexts opens an endpoint with several contexts: the first one last, since peers who find it take the others to be there.
func (c choice) openContexts(at *site, id uint32, s *settings) (first *Endpoint, err error) {
	names := s.contexts.all()
	g := &contexts{list: make([]*Endpoint, len(names)), said: wire.MakeContexts(names, 0)}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.close())
		}
	}()
	for i := len(names) - 1; i >= 0; i-- {
		m, err := c.make(at)
		if err != nil {
			return nil, err
		}
		own := *s
		own.group, own.index = g, i
		ep, err := m.openAlone(id+uint32(i), &own)
		if err != nil {
			m.bell.Close()
			if i > 0 && errors.Is(err, transport.ErrBusy) {
				err = &contextTaken{id + uint32(i), i, err}
			}
			return nil, err
		}
		g.list[i] = ep
	}
	return g.list[0], nil
}

// contextTaken says that the id of a context is taken.
type contextTaken struct {
	id    uint32
	index int
	cause error
}

func (c *contextTaken) Error() string {
	return fmt.Sprintf("id %d, for context %d: %v", c.id, c.index, c.cause)
}

// Unwrap returns the cause.
func (c *contextTaken) Unwrap() error { return c.cause }

// close closes the contexts that are open, all at once, because each may wait for its peers. What a handler panics with does not keep the others
// open, and goes on from here.
func (g *contexts) close() error {
	var all sync.WaitGroup
	errs, thrown := make([]error, len(g.list)), make([]any, len(g.list))
	for i, ep := range g.list {
		if ep != nil {
			all.Go(func() {
				defer func() { thrown[i] = recover() }()
				errs[i] = ep.closeContext()
			})
		}
	}
	all.Wait()
	for _, t := range thrown {
		if t != nil {
			panic(t)
		}
	}
	return errors.Join(errs...)
}

// closeAll closes an endpoint with several contexts.
func (ep *Endpoint) closeAll() error {
	if ep.index > 0 {
		return ep.fail("close endpoint", "", &instead{fmt.Sprintf("context %d is closed with its endpoint: close context 0", ep.index), ErrBadEndpoint})
	}
	for _, c := range ep.group.list {
		if c.d.InHandler() {
			return ep.fail("close endpoint", "", driver.ErrInHandler)
		}
	}
	if ep.group.closed.Swap(true) {
		return ep.fail("close endpoint", "", driver.ErrClosed)
	}
	return ep.group.close()
}

// Contexts returns how many contexts the endpoint has: 1 unless it was opened with WithContexts.
func (ep *Endpoint) Contexts() int {
	if ep.group == nil {
		return 1
	}
	return len(ep.group.list)
}

// ContextIndex returns which of the contexts of the endpoint this is, from 0.
func (ep *Endpoint) ContextIndex() int { return ep.index }

// ContextName returns the name of the context, or "".
func (ep *Endpoint) ContextName() string {
	if ep.group == nil {
		return ""
	}
	return ep.group.said.Name(ep.index)
}

// ContextAt returns a context of the endpoint by its index, which is below Contexts. Any context leads to all. Error:
// ErrBadEndpointID. Safe from any goroutine.
func (ep *Endpoint) ContextAt(index int) (*Endpoint, error) {
	switch {
	case index < 0 || index >= ep.Contexts():
		return nil, ep.fail("context of", ep.String(), noContextAt(index, ep.Contexts()))
	case ep.group == nil:
		return ep, nil
	}
	return ep.group.list[index], nil
}

// ContextNamed returns the context that WithContexts gave a name, which is not "". Error: ErrBadEndpointID. Safe from any
// goroutine.
func (ep *Endpoint) ContextNamed(name string) (*Endpoint, error) {
	if ep.group != nil {
		if i, ok := ep.group.said.Find(name); ok {
			return ep.group.list[i], nil
		}
	}
	return nil, ep.fail("context of", ep.String(), noContextNamed(name))
}

// ContextFor returns the context that EndpointAddr.ContextFor of peers chooses for the match information: the one with the
// index HashContext. Safe from any goroutine.
func (ep *Endpoint) ContextFor(matchInfo uint64) *Endpoint {
	if ep.group == nil {
		return ep
	}
	return ep.group.list[HashContext(matchInfo, len(ep.group.list))]
}

// HashContext chooses one of several contexts for match information, the same in all processes and on all machines. A receive
// whose mask leaves bits open must be posted in the context of its messages: sender and receiver then hash the other bits
// alone, matchInfo & mask. contexts is above 0.
func HashContext(matchInfo uint64, contexts int) int {
	x := matchInfo
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int((x ^ x>>31) % uint64(contexts))
}

func noContextAt(index, number int) error {
	return &instead{fmt.Sprintf("there is no context %d: it has %d, from 0 on", index, number), ErrBadEndpointID}
}

func noContextNamed(name string) error {
	return &instead{fmt.Sprintf("it has no context of the name %q", name), ErrBadEndpointID}
}

// idWithContext is an endpoint id as names have it: that of the endpoint, and the context if it has several.
func idWithContext(id uint32, c wire.Contexts) string {
	if c.Count() == 1 {
		return fmt.Sprint(id)
	}
	return fmt.Sprintf("%d.%d", id-uint32(c.Index), c.Index)
}

// said is what the endpoint says of its contexts, in this one.
func (ep *Endpoint) said() wire.Contexts { return saidBy(ep.group, ep.index) }

// saidBy is what one context of an endpoint says of all; nil: it has no others.
func saidBy(g *contexts, index int) wire.Contexts {
	if g == nil {
		return wire.Contexts{}
	}
	c := g.said
	c.Index = uint8(index)
	return c
}
