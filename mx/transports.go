package mx

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"gomx/transport"
	"gomx/transport/mem"
	"gomx/transport/nic"
)

// site is what a transport is made for.
type site struct {
	env   *environment
	dir   *nic.Directory // nil if only its availability is asked for
	board nic.Board
	names []string      // of all that are made together
	tcp   *tcpTransport // of those; made with the first that needs it
}

// together returns the site of transports that are made for one endpoint.
func (s *site) together(names []string) *site {
	return &site{env: s.env, dir: s.dir, board: s.board, names: names}
}

// medium is a line of the table of transports.
type medium struct {
	about  string
	make   func(s *site) (transport.Transport, error)
	bell   func() (transport.Doorbell, error) // nil: any bell will do
	auto   bool                               // in use unless something else is asked for
	when   func(s *site) (yes bool, no error) // and then on such sites, where it may still turn out useless; if not, perhaps why; nil: on all
	far    bool                               // it reaches other hosts, through a port of the endpoint's own
	remedy string                             // what errors advise if it was asked for and can't be used
}

// transportTable names every transport there is. It is the only place that does.
var transportTable = map[string]medium{
	"self": {about: "messages of an endpoint to itself; always there",
		make: func(*site) (transport.Transport, error) { return nil, nil }},
	"mem": {about: "endpoints of one process",
		make: func(*site) (transport.Transport, error) { return memNetwork(), nil }},
	"shm":  shmMedium,
	"rdma": rdmaMedium,
	"tcp":  tcpMedium,
}

// transportOrder is the order in which they are listed and preferred.
var transportOrder = []string{"self", "mem", "shm", "rdma", "tcp"}

// memNetwork is the network that all endpoints of this process share.
var memNetwork = sync.OnceValue(func() *mem.Network { return mem.NewNetwork(mem.Options{}) })

// TransportInfo says whether a transport can be used here.
type TransportInfo struct {
	Name      string `json:"name"`
	About     string `json:"about"`
	Available bool   `json:"available"`
	Reason    string `json:"reason,omitempty"` // why not
}

// Transports lists all transports, and why those that can't be used can't. Init
// need not have been called. Safe from any goroutine.
func Transports() []TransportInfo {
	env, _ := readEnvironment()
	var all []TransportInfo
	for _, name := range transportOrder {
		m := transportTable[name]
		info := TransportInfo{Name: name, About: m.about}
		t, err := m.make(&site{env: &env})
		if err == nil && t != nil {
			err = t.Available()
		}
		if err != nil {
			info.Reason = err.Error()
		}
		info.Available = err == nil
		all = append(all, info)
	}
	return all
}

// choose makes the transports of an endpoint and the doorbell they need. Those that nobody has asked for are known to
// be available.
func choose(c choice, s *site) ([]transport.Transport, transport.Doorbell, error) {
	s = s.together(c.names)
	var list []transport.Transport
	bell := func() (transport.Doorbell, error) { return mem.NewBell(), nil }
	for _, name := range c.names {
		m, ok := transportTable[name]
		if !ok {
			return nil, nil, fmt.Errorf("%w: unknown transport %q", ErrBadParamVal, name)
		}
		t, err := m.make(s)
		if err == nil && t != nil && !c.auto {
			err = t.Available()
		}
		if err != nil {
			return nil, nil, fmt.Errorf("transport %s: %w%s", name, err, m.remedy)
		}
		if t != nil {
			list = append(list, t)
		}
		if m.bell != nil {
			bell = m.bell
		}
	}
	b, err := bell()
	return list, b, err
}

// choice is the transports of an endpoint.
type choice struct {
	names []string
	auto  bool  // nobody has asked for them
	not   error // why one that the board is made for is not among them
}

// wanted returns those asked for, or what works here, or at least what serves one
// process.
func wanted(s *site) choice {
	if len(s.env.transports) > 0 {
		return choice{names: s.env.transports}
	}
	c := choice{auto: true}
	for _, name := range transportOrder {
		m := transportTable[name]
		if !m.auto || m.far && s.board.Kind == nic.Host && !s.board.Up {
			continue // over a loopback interface that is down nobody can be reached
		}
		if m.when != nil {
			if yes, no := m.when(s); !yes {
				c.not = no
				continue
			}
		}
		t, err := m.make(s.together([]string{name}))
		if err == nil {
			err = t.Available()
		}
		switch {
		case err == nil, errors.Is(err, transport.ErrNoDescriptors): // an open reports that, and does not go on without the transport
			c.names = append(c.names, name)
		case m.when != nil:
			c.not = err
		}
	}
	if len(c.names) == 0 {
		c.names = []string{"mem"}
	}
	return c
}

// without returns the choice less what may have turned out useless when an endpoint
// could not be opened, unless that was asked for.
func (c choice) without(why error) (choice, bool) {
	useless := func(name string) bool { return transportTable[name].when != nil }
	rest := slices.DeleteFunc(slices.Clone(c.names), useless)
	if !c.auto || len(rest) == 0 || len(rest) == len(c.names) || why == nil || errors.Is(why, transport.ErrBusy) {
		return choice{}, false
	}
	return choice{names: rest, auto: true, not: why}, true
}

// leavesHost reports whether one of the transports reaches other hosts.
func leavesHost(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return transportTable[name].far })
}
