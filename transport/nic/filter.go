package nic

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// ErrNoneSelected means that a Filter leaves no board of this host besides the
// host itself. Errors of this kind list the interfaces there are.
var ErrNoneSelected = errors.New("no interface is selected")

// Filter selects networks and interfaces, and puts them in order. The zero
// Filter selects all in the order of the system. It is a value, which may be
// used from any goroutine.
type Filter struct {
	rules []rule
}

// rule is one entry of a filter: a network, or the name of an interface.
type rule struct {
	not  bool
	net  netip.Prefix // invalid: name counts
	name string
	open bool // name is how the interface's name begins
}

const selectAll = "all"

// ParseFilter reads a filter: entries with commas between them, each a network
// (10.0.0.0/8, fd00::/8), an address, or the name of an interface, with * at its
// end for all names that begin so. An entry with ! in front leaves out instead of
// selecting. Of the entries that fit an address the first one counts. What no
// entry fits is selected only if all entries leave out. "all" and the empty text
// are the zero Filter.
func ParseFilter(text string) (Filter, error) {
	if text = strings.TrimSpace(text); text == "" || text == selectAll {
		return Filter{}, nil
	}
	var f Filter
	for entry := range strings.SplitSeq(text, ",") {
		r, err := parseRule(strings.TrimSpace(entry))
		if err != nil {
			return Filter{}, err
		}
		f.rules = append(f.rules, r)
	}
	return f, nil
}

func parseRule(entry string) (rule, error) {
	bare, not := strings.CutPrefix(entry, "!")
	r := rule{not: not}
	if addr, err := netip.ParseAddr(bare); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		r.net = netip.PrefixFrom(addr, addr.BitLen())
		return r, nil
	}
	if p, err := netip.ParsePrefix(bare); err == nil && !p.Addr().Is4In6() {
		r.net = p.Masked()
		return r, nil
	}
	r.name, r.open = strings.CutSuffix(bare, "*")
	if bare == "" || !isInterfaceName(r.name) {
		return rule{}, fmt.Errorf("%q is neither a network such as 10.0.0.0/8, nor an address, nor the name of an interface", entry)
	}
	return r, nil
}

// isInterfaceName takes what Linux takes, but for what is certainly meant to be
// an address or a network.
func isInterfaceName(name string) bool {
	const longest = 63 // Linux has 15, other systems more
	if len(name) > longest || name == "." || name == ".." {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c > '~' || strings.IndexByte("/:*!,%", c) >= 0 {
			return false
		}
	}
	return name == "" || strings.Trim(name, "0123456789.") != ""
}

// String returns the filter as ParseFilter takes it.
func (f Filter) String() string {
	if len(f.rules) == 0 {
		return selectAll
	}
	entries := make([]string, len(f.rules))
	for i, r := range f.rules {
		entries[i] = r.String()
	}
	return strings.Join(entries, ",")
}

func (r rule) String() string {
	text := r.name
	switch {
	case r.net.IsSingleIP():
		text = r.net.Addr().String()
	case r.net.IsValid():
		text = r.net.String()
	case r.open:
		text += "*"
	}
	if r.not {
		return "!" + text
	}
	return text
}

func (r rule) fits(interfaceName string, addr netip.Addr) bool {
	switch {
	case r.net.IsValid():
		return r.net.Contains(addr.WithZone(""))
	case r.open:
		return strings.HasPrefix(interfaceName, r.name)
	default:
		return r.name == interfaceName
	}
}

// rank returns which entry selects an address, and false if it is left out.
func (f Filter) rank(interfaceName string, addr netip.Addr) (int, bool) {
	i := slices.IndexFunc(f.rules, func(r rule) bool { return r.fits(interfaceName, addr) })
	if i < 0 {
		return 0, !f.selects()
	}
	return i, !f.rules[i].not
}

// selects says that the filter names what is wanted, not only what isn't.
func (f Filter) selects() bool {
	return slices.ContainsFunc(f.rules, func(r rule) bool { return !r.not })
}

// asksFor reports whether an entry selects one of the board's addresses.
func (f Filter) asksFor(b *Board) bool {
	return f.selects() && slices.ContainsFunc(b.Addrs, func(addr netip.Addr) bool {
		_, ok := f.rank(b.Interface, addr)
		return ok
	})
}

// apply returns what the filter selects of the candidates, each with its rank and
// only the addresses that are selected, and apart from them the addresses left
// out. It is an error if nothing but the host remains without having been asked
// for.
func (f Filter) apply(all []candidate, host *Board) (selected []candidate, out []netip.Addr, err error) {
	for _, c := range all {
		kept, left := f.trim(c)
		if len(kept.board.Addrs) > 0 {
			selected = append(selected, kept)
		}
		out = append(out, left...)
	}
	if len(selected) == 0 && (len(out) > 0 || f.selects()) && !f.asksFor(host) {
		err = fmt.Errorf("%w by %q: there are %s; %s selects the host alone", ErrNoneSelected, f, listed(all), host.Interface)
	}
	return selected, out, err
}

// trim splits the addresses of a candidate into those that are selected, in the
// order of the entries, and the others.
func (f Filter) trim(c candidate) (kept candidate, left []netip.Addr) {
	type ranked struct {
		addr netip.Addr
		rank int
	}
	var in []ranked
	for _, addr := range c.board.Addrs {
		if rank, ok := f.rank(c.board.Interface, addr); ok {
			in = append(in, ranked{addr, rank})
		} else {
			left = append(left, addr)
		}
	}
	slices.SortStableFunc(in, func(a, b ranked) int { return a.rank - b.rank })
	kept = c
	kept.board.Addrs = nil
	for _, r := range in {
		kept.board.Addrs = append(kept.board.Addrs, r.addr)
	}
	if len(in) > 0 {
		kept.rank = in[0].rank
	}
	kept.board.Subnets = slices.DeleteFunc(slices.Clone(c.board.Subnets), func(p netip.Prefix) bool {
		return !slices.ContainsFunc(kept.board.Addrs, p.Contains)
	})
	return kept, left
}

func listed(all []candidate) string {
	if len(all) == 0 {
		return "none with an address"
	}
	var texts []string
	for _, c := range all {
		var addrs []string
		for _, addr := range c.board.Addrs {
			addrs = append(addrs, addr.String())
		}
		texts = append(texts, fmt.Sprintf("%s (%s)", c.board.Interface, strings.Join(addrs, ", ")))
	}
	return strings.Join(texts, ", ")
}
