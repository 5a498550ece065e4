package wire

import (
	"fmt"
	"strings"
)

// Limits of the contexts of an endpoint.
const (
	MaxContexts     = 16
	MaxContextNames = 255 // bytes of the names of all contexts, with a zero byte between two
)

// Contexts says that a side is one of several contexts of an endpoint. Their endpoint ids follow one another, and the id of the first
// is that of the endpoint. The zero Contexts is an endpoint that has no others.
type Contexts struct {
	Number uint8  // of contexts; 0: the endpoint has one, without a name
	Index  uint8  // of this one
	Names  string // of all, with a zero byte between two; "": they have none
}

// MakeContexts returns what a side says whose endpoint has contexts of such names.
func MakeContexts(names []string, index int) Contexts {
	c := Contexts{Number: uint8(len(names)), Index: uint8(index)}
	if all := strings.Join(names, "\x00"); len(all) > len(names)-1 {
		c.Names = all
	}
	if c == (Contexts{Number: 1}) {
		return Contexts{}
	}
	return c
}

// Count returns how many contexts the endpoint has: one, if it has said nothing.
func (c *Contexts) Count() int { return max(1, int(c.Number)) }

// Name returns the name of a context, or "".
func (c *Contexts) Name(index int) string {
	i := 0
	for name := range strings.SplitSeq(c.Names, "\x00") {
		if i == index {
			return name
		}
		i++
	}
	return ""
}

// Find returns the index of the context of that name, which is not "".
func (c *Contexts) Find(name string) (index int, ok bool) {
	for other := range strings.SplitSeq(c.Names, "\x00") {
		if other == name && name != "" {
			return index, true
		}
		index++
	}
	return 0, false
}

// check returns why contexts make no sense in what an endpoint id says.
func (c *Contexts) check(endpoint uint32) error {
	switch {
	case *c == Contexts{}:
	case c.Number < 1, c.Number > MaxContexts, c.Index >= c.Number, uint32(c.Index) > endpoint,
		c.Names != "" && strings.Count(c.Names, "\x00") != int(c.Number)-1:
		return fmt.Errorf("%w: context %d of %d, endpoint id %d, names %q", ErrMalformed, c.Index, c.Number, endpoint, c.Names)
	}
	return nil
}
