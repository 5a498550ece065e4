package mx

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gomx/transport"
	"gomx/transport/nic"
)

// Provider is a transport, or a transport on one of the boards, as Providers judges it.
type Provider struct {
	Transport string   `json:"transport"`           // for WithTransports and MX_TRANSPORT
	Board     int      `json:"board"`               // for OpenEndpoint, as uint32(Board); -1, which then stands for AnyNIC: it is the same on all
	Interface string   `json:"interface,omitempty"` // of the board
	Offers    Hints    `json:"offers"`              // all that it could meet
	Refused   []string `json:"refused"`             // why it does not meet the wishes; empty: it does
}

// Meets reports whether the provider meets the wishes.
func (p *Provider) Meets() bool { return len(p.Refused) == 0 }

// offered is what Providers says of each transport, apart from what holds for all.
var offered = map[string]Hints{
	"self": {Reach: ReachSelf, Latency: LatencyNanoseconds},
	"mem":  {Reach: ReachProcess, Latency: LatencyNanoseconds},
	"shm":  {Reach: ReachHost, Latency: LatencyNanoseconds},
	"rdma": {Reach: ReachNetwork, Latency: LatencyMicroseconds, Heals: true},
	"tcp":  {Reach: ReachNetwork, Latency: LatencyMilliseconds, Heals: true},
}

// Providers says which transports and boards meet the wishes: first those that do, the best one first, and then the
// others, each with all reasons in plain words. Better is a lower class of latency, then a wider reach, then the order in
// which endpoints prefer transports, then a board that is up, then the lower number of a board. The parameters are those that
// the endpoint would be opened with: WithTransports leaves all others out, as MX_TRANSPORT does, and WithTLS makes tcp
// encrypt. An endpoint on a board uses all transports that it is opened with, the best one for each peer, so that it
// meets a wish for all of its peers if each of these transports meets it.
//
// Wishes that all transports meet: ordered, reliable, onesided, atomic, and messages of up to MaxMessage bytes. Memory
// (shm, mem, self) meets a wish for encryption, since no byte leaves the host.
//
// Errors: ErrNotInitialized; ErrBadParamName, ErrBadParamVal of parameters and of wishes that make no sense. MX does not
// have it; libfabric calls it fi_getinfo. Safe from any goroutine.
func Providers(want Hints, params ...Param) ([]Provider, error) {
	lib.mu.Lock()
	up, dir, env := lib.up, lib.dir, lib.env
	lib.mu.Unlock()
	s := settings{environment: env}
	err := s.apply(params)
	switch {
	case !up:
		err = ErrNotInitialized
	case err == nil && int(want.Latency) >= len(latencyNames):
		err = fmt.Errorf("%w: latency class %v", ErrBadParamVal, want.Latency)
	case err == nil && int(want.Reach) >= len(reachNames):
		err = fmt.Errorf("%w: reach %v", ErrBadParamVal, want.Reach)
	}
	if err != nil {
		return nil, handle(s.onError, &Error{Op: "providers", Code: codeOf(err), Cause: err})
	}
	var all []Provider
	for _, name := range transportOrder {
		all = append(all, providersOf(name, &want, &s.environment, dir)...)
	}
	slices.SortStableFunc(all, func(a, b Provider) int {
		return cmp.Or(
			cmp.Compare(rank(&a), rank(&b)),
			cmp.Compare(a.Offers.Latency, b.Offers.Latency),
			cmp.Compare(b.Offers.Reach, a.Offers.Reach),
		)
	})
	return all, nil
}

func rank(p *Provider) int {
	if p.Meets() {
		return 0
	}
	return 1
}

// providersOf judges one transport: on each board, if that makes a difference, those that are up first.
func providersOf(name string, want *Hints, env *environment, dir *nic.Directory) []Provider {
	m, boards := transportTable[name], dir.Boards()
	whole := provider(name, want, &site{env: env})
	whole.Board = -1
	if why := unavailable(m, &site{env: env}, name); !m.far || why != "" {
		return []Provider{refuse(whole, why)}
	}
	slices.SortStableFunc(boards, func(a, b nic.Board) int {
		switch {
		case a.Up == b.Up:
			return 0
		case a.Up:
			return -1
		}
		return 1
	})
	var all []Provider
	for _, b := range boards {
		at := &site{env: env, dir: dir, board: b}
		p := provider(name, want, at)
		p.Board, p.Interface = b.Number, b.Interface
		why := unavailable(m, at, name)
		if why == "" && !b.Up {
			why = fmt.Sprintf("interface %s is %s", b.Interface, b.State)
		}
		all = append(all, refuse(p, why))
	}
	return all
}

// refuse puts a reason before those that the provider has.
func refuse(p Provider, why string) Provider {
	if why != "" {
		p.Refused = append([]string{why}, p.Refused...)
	}
	return p
}

// unavailable returns why endpoints at the site can't use a transport, or "".
func unavailable(m medium, at *site, name string) string {
	t, err := m.make(at.together([]string{name}))
	if err == nil && t != nil {
		err = t.Available()
	}
	if err == nil || errors.Is(err, transport.ErrNoDescriptors) {
		return ""
	}
	return strings.TrimPrefix(words(err), name+": ")
}

// provider compares what a transport offers at a site with the wishes.
func provider(name string, want *Hints, at *site) Provider {
	p := Provider{Transport: name, Offers: offered[name], Refused: []string{}}
	offer := &p.Offers
	offer.Ordered, offer.Reliable, offer.OneSided, offer.Atomic = true, true, true, true // the engine's own work
	offer.MessageSize = MaxMessage
	offer.Encrypted = !transportTable[name].far || name == "tcp" && at.env.tls != nil
	if at.board.Kind == nic.Host && at.dir != nil {
		offer.Reach = min(offer.Reach, ReachHost)
	}
	if list := at.env.transports; len(list) > 0 && !slices.Contains(list, name) {
		p.Refused = append(p.Refused, "only "+strings.Join(list, ", ")+" may be used, as MX_TRANSPORT or WithTransports says")
	}
	for i := range wishes {
		why := wishes[i].unmet(want, offer)
		if why != "" {
			p.Refused = append(p.Refused, why)
		}
	}
	return p
}
