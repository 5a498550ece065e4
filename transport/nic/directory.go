package nic

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
)

// Directory knows the boards of this host and, as they are resolved or learned,
// those of others. Its methods may be called at once from any goroutine.
type Directory struct {
	boards   []Board      // fixed once made, the host's own last
	hidden   []netip.Addr // of this host, but of no board
	byID     map[ID]int
	hostname string
	ownNames map[string]bool // folded
	lookup   func(context.Context, string) ([]netip.Addr, error)

	mu    sync.RWMutex
	table table // under mu
}

// NewDirectory makes a directory of the boards that this host has now and the
// filter selects; other names go to the system's resolver. The directory is never
// nil: with an error it knows the host alone. ErrNoneSelected means that the
// filter leaves nothing, and any other error that interfaces could not be listed.
func NewDirectory(f Filter) (*Directory, error) {
	hostname := systemHostname()
	boards, out, err := systemBoards(f, hostname)
	d := NewDirectoryFor(boards, hostname, lookupSystem)
	d.hidden = out
	return d, err
}

func lookupSystem(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// NewDirectoryFor makes a directory of given boards, hostname and look-up, for
// tests and for worlds that are simulated. Boards are numbered in the order they
// come and named where they have no name; if none of them is the host, it is
// added as the last. A nil lookup finds nothing.
func NewDirectoryFor(boards []Board, hostname string,
	lookup func(ctx context.Context, host string) ([]netip.Addr, error)) *Directory {
	d := &Directory{
		boards:   cloneBoards(boards),
		byID:     map[ID]int{},
		hostname: hostname,
		lookup:   lookup,
		table:    newTable(),
		ownNames: spellings(hostname),
	}
	if !slices.ContainsFunc(d.boards, func(b Board) bool { return b.Kind == Host }) {
		d.boards = append(d.boards, bareHost())
	}
	number(d.boards, hostname)
	d.indexIDs()
	return d
}

func spellings(hostname string) map[string]bool {
	names := map[string]bool{
		fold(hostname):                true,
		fold(shownHostname(hostname)): true,
	}
	if _, err := netip.ParseAddr(hostname); err != nil {
		names[fold(firstLabel(hostname))] = true
	}
	delete(names, "")
	return names
}

// indexIDs lets each board be found by its own id and by those of its other
// addresses, which a peer may have got from a look-up.
func (d *Directory) indexIDs() {
	for i, board := range d.boards {
		d.byID[board.ID] = i
	}
	for i, board := range d.boards {
		for _, addr := range board.Addrs {
			if _, taken := d.byID[IDOf(addr)]; !taken {
				d.byID[IDOf(addr)] = i
			}
		}
	}
}

// Boards returns all boards of this host in order of their numbers.
func (d *Directory) Boards() []Board {
	return cloneBoards(d.boards)
}

func cloneBoards(boards []Board) []Board {
	copied := make([]Board, len(boards))
	for i, board := range boards {
		copied[i] = board.clone()
	}
	return copied
}

// Board returns the board of number n, or ErrBoardUnknown.
func (d *Directory) Board(n int) (Board, error) {
	if n < 0 || n >= len(d.boards) {
		return Board{}, fmt.Errorf("%w: number %d of %d", ErrBoardUnknown, n, len(d.boards))
	}
	return d.boards[n].clone(), nil
}

// BoardNumber returns the number of the local board with this id, or
// ErrBoardUnknown. The id of any address of a board leads to that board, and the
// whole of 127.0.0.0/8 to the host.
func (d *Directory) BoardNumber(id ID) (int, error) {
	if n, ok := d.localBoard(id); ok {
		return n, nil
	}
	return 0, fmt.Errorf("%w: no local board has the NIC id %s", ErrBoardUnknown, id)
}

// IsLocal says whether an id leads to this host.
func (d *Directory) IsLocal(id ID) bool {
	_, ok := d.localBoard(id)
	return ok
}

func (d *Directory) localBoard(id ID) (int, bool) {
	if n, ok := d.byID[id]; ok {
		return n, true
	}
	if id.isLoopback() {
		return d.hostBoard(), true
	}
	return 0, false
}

func (d *Directory) hostBoard() int {
	return slices.IndexFunc(d.boards, func(b Board) bool { return b.Kind == Host })
}

func (d *Directory) boardWithAddr(addr netip.Addr) (int, bool) {
	if addr.IsLoopback() {
		return d.hostBoard(), true
	}
	n := slices.IndexFunc(d.boards, func(b Board) bool { return b.hasAddr(addr) })
	return n, n >= 0
}

// isOwnAddr reports whether an address belongs to this host, be it that of a
// board or not.
func (d *Directory) isOwnAddr(addr netip.Addr) bool {
	_, ok := d.boardWithAddr(addr)
	return ok || slices.Contains(d.hidden, addr.WithZone(""))
}

// Name returns "host:board" for an id, "localhost:board" for the host itself. A peer
// known only by its address is named by that, and Resolve takes it. The error
// for an unknown id is ErrHostNotFound.
func (d *Directory) Name(id ID) (string, error) {
	if n, ok := d.localBoard(id); ok {
		return d.boards[n].Name, nil
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	if p := d.table.peers[id]; p != nil {
		if name := p.name(); name != "" {
			return name, nil
		}
	}
	return "", fmt.Errorf("%w: NIC id %s is not known", ErrHostNotFound, id)
}

// Learn notes where a peer was reached and what it calls itself, "host" or
// "host:board". What can't be a name, or is one of this host's, is ignored, and
// so is everything about local ids: a peer can't speak for this host. An invalid
// addr or an empty name leaves that part as it was. The number of peers learned
// is bounded; the oldest that nobody here asked for are forgotten.
func (d *Directory) Learn(id ID, addr netip.Addr, name string) {
	if id == 0 || d.IsLocal(id) {
		return
	}
	addr = addr.Unmap()
	if d.isOwnAddr(addr) {
		addr = netip.Addr{}
	}
	name = d.acceptableClaim(name)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.table.learn(id, addr, name)
}

func (d *Directory) acceptableClaim(name string) string {
	t, err := parseTarget(name)
	if err != nil || t.host == "" || d.isOwnName(t.host) || t.board > maxClaimedBoard {
		return ""
	}
	claim := joinName(t.host, t.board)
	if len(claim) > MaxNameLen {
		return ""
	}
	return claim
}

const maxClaimedBoard = 1<<32 - 1

// LearnOther notes that a board has answered, as id, at an address that was tried
// for another one. The id of that address is then an alias of it: a host with IPv4
// and IPv6 is known by the former, and asked for by the latter. Ignored are local ids
// and addresses, and an address whose own id is confirmed: no other id can take it over.
// The number of aliases is bounded.
func (d *Directory) LearnOther(id ID, at netip.Addr) {
	at = at.Unmap()
	alias := IDOf(at)
	if id == 0 || alias == 0 || d.IsLocal(id) || d.IsLocal(alias) || d.isOwnAddr(at) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.table.learn(id, at, "")
	d.table.alias(alias, id)
}

// Actual returns the id under which the board that id leads to has answered, which
// is id itself unless that is known to be an alias.
func (d *Directory) Actual(id ID) ID {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.table.actual(id)
}

// Addrs returns the addresses at which an id can be tried. Those in a subnet of one of
// our boards come first, beginning with the address that the id stands for, and then in
// the order of our boards. The other addresses follow in the same order. An address that
// the host's name resolves to may belong to another board of the host, so the caller
// must compare the id of whoever answers. An unknown id that is not of IPv4's form has
// no address. The zone of a link-local address is kept.
func (d *Directory) Addrs(id ID) []netip.Addr {
	if n, ok := d.localBoard(id); ok {
		return slices.Clone(d.boards[n].Addrs)
	}
	var addrs []netip.Addr
	own, hasOwn := id.Addr()
	if hasOwn {
		addrs = append(addrs, own)
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	if p := d.table.peers[id]; p != nil {
		for _, addr := range p.addrs {
			if !hasOwn || addr != own {
				addrs = append(addrs, addr)
			}
		}
	}
	d.nearestFirst(addrs)
	i := slices.IndexFunc(addrs, func(addr netip.Addr) bool { return IDOf(addr) == id })
	if i > 0 && d.distance(addrs[i]) < len(d.boards) {
		own = addrs[i]
		copy(addrs[1:], addrs[:i])
		addrs[0] = own
	}
	return addrs
}

// nearestFirst sorts addresses by the first of our boards that shares a subnet
// with them.
func (d *Directory) nearestFirst(addrs []netip.Addr) {
	slices.SortStableFunc(addrs, func(a, b netip.Addr) int { return d.distance(a) - d.distance(b) })
}

// distance returns the number of the first working board with the address in one
// of its subnets, and more than any number if there is none.
func (d *Directory) distance(addr netip.Addr) int {
	addr = addr.WithZone("")
	n := slices.IndexFunc(d.boards, func(b Board) bool {
		return b.Up && b.Kind != Host && slices.ContainsFunc(b.Subnets, func(p netip.Prefix) bool { return p.Contains(addr) })
	})
	if n < 0 {
		return len(d.boards)
	}
	return n
}
