package mx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gomx/internal/nearest"
)

// Hints are wishes for Providers: what a program needs of a transport. The zero Hints wishes for nothing.
type Hints struct {
	Ordered     bool         `json:"ordered"`      // messages of one endpoint to another match in the order in which they were sent
	Reliable    bool         `json:"reliable"`     // each message arrives exactly once, or its sender hears that the session has ended
	OneSided    bool         `json:"onesided"`     // windows, puts and gets
	Atomic      bool         `json:"atomic"`       // atomics in windows
	Encrypted   bool         `json:"encrypted"`    // no byte of a message is on a wire, or in a kernel's queue for one, in plain text
	Heals       bool         `json:"heals"`        // sessions outlive connections that break
	MessageSize uint64       `json:"message_size"` // bytes of the largest message
	Latency     LatencyClass `json:"latency"`      // at worst
	Reach       Reach        `json:"reach"`        // at least
}

// LatencyClass says how long a small message takes to a peer that waits for it. It is a property of the medium, and is
// not measured.
type LatencyClass uint8

// The classes of latency, the best one first.
const (
	LatencyAny          LatencyClass = iota // a wish for nothing
	LatencyNanoseconds                      // hundreds of nanoseconds: memory that both sides see
	LatencyMicroseconds                     // microseconds: RDMA devices
	LatencyMilliseconds                     // tens of microseconds to milliseconds: the system's network stack, and what lies between the hosts
)

// Reach says where the peers are that a transport leads to. Each one includes those before it.
type Reach uint8

// The reaches, the narrowest one first.
const (
	ReachAny     Reach = iota // a wish for nothing
	ReachSelf                 // the endpoint itself
	ReachProcess              // endpoints of the same process
	ReachHost                 // processes of this host
	ReachNetwork              // other hosts
)

var (
	latencyNames = []string{"any", "ns", "us", "ms"}
	reachNames   = []string{"any", "self", "process", "host", "network"}
)

// String returns "any", "ns", "us" or "ms".
func (l LatencyClass) String() string { return nameOf(latencyNames, int(l)) }

// String returns "any", "self", "process", "host" or "network".
func (r Reach) String() string { return nameOf(reachNames, int(r)) }

// MarshalText is String, for JSON.
func (l LatencyClass) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// MarshalText is String, for JSON.
func (r Reach) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (l *LatencyClass) UnmarshalText(text []byte) error {
	i, err := namedIn(latencyNames, string(text))
	*l = LatencyClass(i)
	return err
}

// UnmarshalText reads what MarshalText writes.
func (r *Reach) UnmarshalText(text []byte) error {
	i, err := namedIn(reachNames, string(text))
	*r = Reach(i)
	return err
}

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("unknown (%d)", i)
}

// namedIn returns the place of a name in a list, or an error that says what it was probably meant to be.
func namedIn(names []string, name string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	if near := nearest.Name(name, names); near != "" {
		return 0, fmt.Errorf("unknown: did you mean %s?", near)
	}
	return 0, fmt.Errorf("unknown: want one of %s", strings.Join(names, ", "))
}

// wish is one of the wishes of Hints, by its name in texts.
type wish struct {
	name string
	set  func(h *Hints, value string) error    // value: behind the equals sign
	flag func(h *Hints) *bool                  // of a wish without a value; otherwise nil
	not  func(want, offer *Hints) (why string) // "": the offer meets it
}

// wishes is the one table of wishes: texts, help and refusals come from it.
var wishes = []wish{
	{name: "ordered", flag: func(h *Hints) *bool { return &h.Ordered }},
	{name: "reliable", flag: func(h *Hints) *bool { return &h.Reliable }},
	{name: "onesided", flag: func(h *Hints) *bool { return &h.OneSided }},
	{name: "atomic", flag: func(h *Hints) *bool { return &h.Atomic }},
	{name: "encrypted", flag: func(h *Hints) *bool { return &h.Encrypted }},
	{name: "heals", flag: func(h *Hints) *bool { return &h.Heals }},
	{name: "size",
		set: func(h *Hints, value string) error {
			n, err := parseSize(value)
			if err != nil || n <= 0 {
				return fmt.Errorf("want a number of bytes above 0, or one with K, M or G")
			}
			h.MessageSize = uint64(n)
			return nil
		},
		not: func(want, offer *Hints) string {
			if want.MessageSize <= offer.MessageSize {
				return ""
			}
			return fmt.Sprintf("its messages are of at most %d bytes", offer.MessageSize)
		}},
	{name: "latency",
		set: func(h *Hints, value string) error { return h.Latency.UnmarshalText([]byte(value)) },
		not: func(want, offer *Hints) string {
			if want.Latency == LatencyAny || offer.Latency <= want.Latency {
				return ""
			}
			return fmt.Sprintf("its latency is of class %v", offer.Latency)
		}},
	{name: "reach",
		set: func(h *Hints, value string) error { return h.Reach.UnmarshalText([]byte(value)) },
		not: func(want, offer *Hints) string {
			if want.Reach <= offer.Reach {
				return ""
			}
			return "it reaches no farther than " + reaches[offer.Reach]
		}},
}

// reaches are the reaches in words.
var reaches = []string{"", "the endpoint itself", "this process", "this host", "the network"}

// lacks are the words for flags that an offer is without, where not all have them.
var lacks = map[string]string{
	"encrypted": "it does not encrypt, and only tcp can, with TLS (WithTLS, MX_TLS)",
	"heals":     "its sessions end with their link",
}

// unmet returns why an offer does not meet the wish, or "".
func (w *wish) unmet(want, offer *Hints) string {
	switch {
	case w.not != nil:
		return w.not(want, offer)
	case *w.flag(want) && !*w.flag(offer):
		return lacks[w.name]
	}
	return ""
}

// WishNames returns the names that ParseHints knows, with an equals sign behind those that take a value.
func WishNames() []string {
	var all []string
	for i := range wishes {
		name := wishes[i].name
		if wishes[i].set != nil {
			name += "="
		}
		all = append(all, name)
	}
	return all
}

// ParseHints reads wishes as mx_info -want takes them: names with commas between them, such as
// "ordered,atomic,size=1G,latency=us". A number of bytes may end in K, M or G; classes of latency are ns, us and ms,
// reaches self, process, host and network. Error: ErrBadParamVal, whose text names the word that is wrong, and the known
// one that it is most like. Safe from any goroutine.
func ParseHints(text string) (Hints, error) {
	var h Hints
	given := map[string]bool{}
	for word := range strings.SplitSeq(text, ",") {
		name, value, valued := strings.Cut(word, "=")
		err := h.add(name, value, valued)
		if err == nil && given[name] {
			err = fmt.Errorf("wish %s is there twice", name)
		}
		if err != nil {
			return Hints{}, fail("parse hints", ErrBadParamVal, "", err)
		}
		given[name] = true
	}
	return h, nil
}

func (h *Hints) add(name, value string, valued bool) error {
	var names []string
	for i := range wishes {
		names = append(names, wishes[i].name)
	}
	i := slices.Index(names, name)
	if i < 0 {
		if near := nearest.Name(name, names); near != "" {
			return fmt.Errorf("unknown wish %s: did you mean %s?", strconv.Quote(name), near)
		}
		return fmt.Errorf("unknown wish %s: want some of %s", strconv.Quote(name), strings.Join(WishNames(), ", "))
	}
	switch w := &wishes[i]; {
	case w.set == nil && valued:
		return fmt.Errorf("wish %s takes no value", name)
	case w.set == nil:
		*w.flag(h) = true
	case !valued:
		return fmt.Errorf("wish %s wants a value behind an equals sign", name)
	default:
		if err := w.set(h, value); err != nil {
			return fmt.Errorf("wish %s=%s: %w", name, value, err)
		}
	}
	return nil
}
