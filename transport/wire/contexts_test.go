package wire_test

import (
	"errors"
	"strings"
	"testing"

	"gomx/transport/wire"
)

func TestContexts(t *testing.T) {
	plain, named := wire.MakeContexts([]string{"", "", ""}, 2), wire.MakeContexts([]string{"control", "", "data"}, 1)
	if plain != (wire.Contexts{Number: 3, Index: 2}) || plain.Count() != 3 || plain.Name(1) != "" {
		t.Errorf("%+v", plain)
	}
	if named.Count() != 3 || named.Index != 1 {
		t.Errorf("%+v", named)
	}
	for i, want := range []string{"control", "", "data", ""} {
		if got := named.Name(i); got != want {
			t.Errorf("context %d is named %q, want %q", i, got, want)
		}
	}
	for name, want := range map[string]int{"control": 0, "data": 2, "": -1, "dat": -1, "control\x00": -1} {
		if i, ok := named.Find(name); ok != (want >= 0) || ok && i != want {
			t.Errorf("%q: %d, %v", name, i, ok)
		}
	}
	for _, names := range [][]string{nil, {""}} {
		if c := wire.MakeContexts(names, 0); c != (wire.Contexts{}) || c.Count() != 1 {
			t.Errorf("%q: %+v", names, c)
		}
	}
}

// What a peer says of its contexts is checked before it is believed.
func TestContextsThatMakeNoSense(t *testing.T) {
	good := wire.ConnectInfo{Version: wire.Version, Session: 1, Endpoint: 6, Contexts: wire.MakeContexts([]string{"a", "b"}, 1)}
	if c, err := wire.ParseConnect(good.Append(nil)); err != nil || c != good {
		t.Fatalf("%+v, %v", c, err)
	}
	for name, spoil := range map[string]func(c *wire.ConnectInfo){
		"the second of one":   func(c *wire.ConnectInfo) { c.Contexts = wire.Contexts{Number: 1, Index: 1} },
		"an index of none":    func(c *wire.ConnectInfo) { c.Contexts = wire.Contexts{Index: 1} },
		"too many":            func(c *wire.ConnectInfo) { c.Contexts = wire.Contexts{Number: wire.MaxContexts + 1} },
		"beyond the last":     func(c *wire.ConnectInfo) { c.Contexts = wire.Contexts{Number: 2, Index: 2} },
		"before the first id": func(c *wire.ConnectInfo) { c.Contexts, c.Endpoint = wire.Contexts{Number: 3, Index: 2}, 1 },
		"names of none":       func(c *wire.ConnectInfo) { c.Contexts = wire.Contexts{Names: "a"} },
		"too few names":       func(c *wire.ConnectInfo) { c.Contexts.Names = "a" },
		"too many names":      func(c *wire.ConnectInfo) { c.Contexts.Names = strings.Repeat("\x00", 5) },
	} {
		c := good
		spoil(&c)
		if _, err := wire.ParseConnect(c.Append(nil)); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	short := good.Append(nil)
	if _, err := wire.ParseConnect(short[:len(short)-1]); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("names that are cut: %v", err)
	}
}
