package nic

import (
	"context"
	"net/netip"
	"slices"
	"strings"
)

// Resolve returns the NIC id that a name stands for. A name is "host",
// "host:board", an IPv4 or IPv6 address, "address:board" ("[v6]:board"), or an id
// as [ParseID] takes it; at most MaxNameLen bytes, case and a final dot of a host
// don't count, and board 0 is meant where none is given.
//
// This host's own name leads to its boards without asking anybody, "localhost"
// to the board of the host itself, and any local address to the board that has
// it. Of another host with several addresses, board n is the n-th: first those in
// a subnet of one of our boards, in the order of the boards, and among equals in
// ascending order, IPv4 first. An address by itself is board 0. If a look-up
// fails, a name resolved or learned before still answers.
//
// Errors are ErrHostNotFound, with the name in the text, wrapping the reason:
// the resolver's error, that of ctx, ErrBoardUnknown for a board the host doesn't
// have, or that the name leads back to this host though it isn't ours.
func (d *Directory) Resolve(ctx context.Context, name string) (ID, error) {
	// A host may be called what otherwise reads as a number or an address.
	if own := fold(name); d.ownNames[own] && !isLocalhost(own) && len(name) <= MaxNameLen {
		return d.boards[0].ID, nil
	}
	t, err := parseTarget(name)
	if err != nil {
		return 0, hostNotFound(name, err)
	}
	id, err := d.resolveTarget(ctx, t)
	if err != nil {
		return 0, hostNotFound(name, err)
	}
	return id, nil
}

func (d *Directory) resolveTarget(ctx context.Context, t target) (ID, error) {
	switch {
	case t.addr.IsValid():
		return d.resolveAddr(t)
	case t.host == "":
		if n, local := d.localBoard(t.id); local {
			return d.boards[n].ID, nil
		}
		return t.id, nil
	case isLocalhost(fold(t.host)) && !t.hasBoard:
		return d.boards[d.hostBoard()].ID, nil
	case d.isOwnName(t.host):
		return d.localID(t.board)
	default:
		return d.resolveHost(ctx, t)
	}
}

func (d *Directory) isOwnName(host string) bool {
	return d.ownNames[fold(host)] || isLocalhost(fold(host))
}

func (d *Directory) localID(board uint64) (ID, error) {
	if board >= uint64(len(d.boards)) {
		return 0, &missingBoard{board, len(d.boards)}
	}
	return d.boards[board].ID, nil
}

func (d *Directory) resolveAddr(t target) (ID, error) {
	if n, local := d.boardWithAddr(t.addr); local {
		if t.hasBoard {
			return d.localID(t.board)
		}
		return d.boards[n].ID, nil
	}
	if t.board != 0 {
		return 0, &missingBoard{t.board, 1}
	}
	return d.remember(t.addr, "")
}

func (d *Directory) resolveHost(ctx context.Context, t target) (ID, error) {
	found, err := d.lookUp(ctx, t.host)
	if err != nil {
		if id, ok := d.recall(t); ok {
			return id, nil
		}
		return 0, err
	}
	switch {
	case d.isThisHost(t.host, found):
		return d.localID(t.board)
	case allLoopback(found):
		return 0, d.leadsBack(found[0], t.host)
	}
	addrs := reachable(found)
	if len(addrs) == 0 {
		return 0, errNoAddress
	}
	d.nearestFirst(addrs)
	if t.board >= uint64(len(addrs)) {
		if id, ok := d.recall(t); ok {
			return id, nil
		}
		return 0, &missingBoard{t.board, len(addrs)}
	}
	addr := addrs[t.board]
	if n, local := d.boardWithAddr(addr); local {
		return d.boards[n].ID, nil
	}
	id, err := d.remember(addr, joinName(t.host, t.board))
	if err == nil {
		d.offer(id, addrs)
	}
	return id, err
}

// offer notes further addresses of a host, which may or may not be those of the
// board with the id.
func (d *Directory) offer(id ID, addrs []netip.Addr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, addr := range addrs {
		if !d.isOwnAddr(addr) {
			d.table.offer(id, addr)
		}
	}
}

func (d *Directory) lookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	if d.lookup == nil {
		return nil, errNoLookup
	}
	if isNumeric(host) {
		return nil, errNumeric
	}
	found, err := d.lookup(ctx, host)
	if err != nil {
		return nil, withRemedy(err)
	}
	addrs := make([]netip.Addr, len(found))
	for i, addr := range found {
		addrs[i] = addr.Unmap()
	}
	return addrs, nil
}

// isThisHost recognises further names of this host by what they resolve to. Many
// systems give the host's full name a loopback address; a full name that begins
// with our own and leads to an address of ours is ours; and so is what the system
// calls its loopback, such as ip6-localhost.
func (d *Directory) isThisHost(host string, found []netip.Addr) bool {
	if strings.EqualFold(firstLabel(host), firstLabel(d.hostname)) {
		return slices.ContainsFunc(found, d.isOwnAddr)
	}
	return allLoopback(found) && namesLoopback(fold(host))
}

func allLoopback(found []netip.Addr) bool {
	return len(found) > 0 && !slices.ContainsFunc(found, func(addr netip.Addr) bool { return !addr.IsLoopback() })
}

func namesLoopback(folded string) bool {
	return strings.Contains(folded, localhost) || strings.Contains(folded, "loopback")
}

// reachable sorts, so that every host counts the boards of a third in the same
// order.
func reachable(found []netip.Addr) []netip.Addr {
	addrs := slices.DeleteFunc(slices.Clone(found), func(addr netip.Addr) bool { return !usable(addr) })
	slices.SortFunc(addrs, netip.Addr.Compare)
	return slices.Compact(addrs)
}

func (d *Directory) remember(addr netip.Addr, name string) (ID, error) {
	id := IDOf(addr)
	if d.IsLocal(id) {
		return 0, errIDTaken
	}
	if len(name) > MaxNameLen {
		name = ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.table.resolve(id, addr, name); err != nil {
		return 0, err
	}
	return id, nil
}

func (d *Directory) recall(t target) (ID, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.table.named(joinName(t.host, t.board))
}
