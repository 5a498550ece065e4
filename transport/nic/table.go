package nic

import (
	"net/netip"
	"slices"
)

// Bounds on what peers can make this host remember. What its own user looked up
// isn't bounded.
const (
	maxLearnedPeers = 1 << 16
	maxPeerAddrs    = 8
	maxAliases      = 1 << 12
)

// table remembers ids of other hosts. The caller locks.
type table struct {
	peers    map[ID]*peer
	resolved map[string]ID // by folded "host:board", from look-ups
	claimed  map[string]ID // likewise, from the peers themselves
	learned  []ID          // peers nobody here asked for, oldest first
	aliases  map[ID]ID     // ids under which a board can be found, but does not answer
}

type peer struct {
	addrs     []netip.Addr // those that prove the id first, then where it was reached, the newest first
	resolved  string
	claimed   string
	asked     bool // somebody here resolved it, so it stays
	confirmed bool // the peer itself has announced that it has this id
}

func newTable() table {
	return table{
		peers:    map[ID]*peer{},
		resolved: map[string]ID{},
		claimed:  map[string]ID{},
		aliases:  map[ID]ID{},
	}
}

// resolve notes the outcome of a look-up; name is empty for an address. It is an
// error if the id already stands for a different address.
func (t *table) resolve(id ID, addr netip.Addr, name string) error {
	p := t.peers[id]
	if p == nil {
		p = &peer{}
		t.peers[id] = p
	}
	if proof, ok := p.provenAddr(id); ok && proof.WithZone("") != addr.WithZone("") {
		return errIDTaken
	}
	p.asked = true
	p.addAddr(id, addr)
	if name != "" {
		p.resolved = name
		t.resolved[fold(name)] = id
	}
	return nil
}

// offer notes an address that an id may have, after all others. What is known to
// be the address of another id is not.
func (t *table) offer(id ID, addr netip.Addr) {
	p := t.peers[id]
	if other := t.peers[IDOf(addr)]; other != nil && other != p && other.confirmed {
		return
	}
	known := func(a netip.Addr) bool { return a.WithZone("") == addr.WithZone("") }
	if p != nil && len(p.addrs) < maxPeerAddrs && !slices.ContainsFunc(p.addrs, known) {
		p.addrs = append(p.addrs, addr)
	}
}

// learn notes what a peer said about itself. A name that a look-up gave to
// another id stays with that id.
func (t *table) learn(id ID, addr netip.Addr, name string) {
	p := t.peers[id]
	if p == nil {
		t.makeRoom()
		p = &peer{}
		t.peers[id] = p
		t.learned = append(t.learned, id)
	}
	p.confirmed = true
	delete(t.aliases, id)
	if addr.IsValid() {
		p.addAddr(id, addr)
	}
	if name != "" {
		t.dropClaim(id, p)
		p.claimed = name
		t.claimed[fold(name)] = id
	}
}

// alias notes that the board of id answers where alias leads to, unless a board
// has answered for alias itself. When there are too many, any one goes: the next
// connect finds it again.
func (t *table) alias(alias, id ID) {
	if p := t.peers[alias]; alias == id || p != nil && p.confirmed {
		return
	}
	if _, known := t.aliases[alias]; !known && len(t.aliases) >= maxAliases {
		for any := range t.aliases {
			delete(t.aliases, any)
			break
		}
	}
	t.aliases[alias] = id
}

// actual returns the id of the board that answers for id.
func (t *table) actual(id ID) ID {
	if other, ok := t.aliases[id]; ok && t.peers[other] != nil {
		return other
	}
	return id
}

func (t *table) makeRoom() {
	for len(t.learned) >= maxLearnedPeers {
		oldest := t.learned[0]
		t.learned = t.learned[1:]
		if p := t.peers[oldest]; !p.asked {
			t.dropClaim(oldest, p)
			delete(t.peers, oldest)
		}
	}
}

func (t *table) dropClaim(id ID, p *peer) {
	if key := fold(p.claimed); t.claimed[key] == id {
		delete(t.claimed, key)
	}
}

// named returns the id last known under a name.
func (t *table) named(name string) (ID, bool) {
	key := fold(name)
	if id, ok := t.resolved[key]; ok {
		return id, true
	}
	id, ok := t.claimed[key]
	return id, ok
}

// name prefers what was looked up to what was claimed, and has the address for
// peers that are known by nothing else.
func (p *peer) name() string {
	switch {
	case p.resolved != "":
		return p.resolved
	case p.claimed != "":
		return p.claimed
	case len(p.addrs) > 0:
		return addressName(p.addrs[0])
	default:
		return ""
	}
}

func addressName(addr netip.Addr) string {
	if name := bracketed(addr); len(name) <= MaxNameLen {
		return name
	}
	return bracketed(addr.WithZone(""))
}

func bracketed(addr netip.Addr) string {
	if addr.Is6() {
		return joinName("["+addr.String()+"]", 0)
	}
	return joinName(addr.String(), 0)
}

func (p *peer) addAddr(id ID, addr netip.Addr) {
	p.addrs = slices.DeleteFunc(p.addrs, func(known netip.Addr) bool {
		return known.WithZone("") == addr.WithZone("")
	})
	at := 0
	if _, ok := p.provenAddr(id); ok && IDOf(addr) != id {
		at = 1
	}
	p.addrs = slices.Insert(p.addrs, at, addr)
	p.addrs = p.addrs[:min(len(p.addrs), maxPeerAddrs)]
}

func (p *peer) provenAddr(id ID) (netip.Addr, bool) {
	if len(p.addrs) > 0 && IDOf(p.addrs[0]) == id {
		return p.addrs[0], true
	}
	return netip.Addr{}, false
}
