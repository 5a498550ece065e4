package gomx_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gomx/transport/wire"
)

// TestWireKinds compares the table of kinds in docs/wire.md with the constants.
func TestWireKinds(t *testing.T) {
	rows := table(t, "docs/wire.md", "| kind | name |")
	kinds := 0
	for k := wire.Kind(1); k.Valid(); k++ {
		kinds++
	}
	if len(rows) != kinds {
		t.Errorf("docs/wire.md lists %d kinds of %d", len(rows), kinds)
	}
	for i, row := range rows {
		k := wire.Kind(i + 1)
		sequenced := map[bool]string{true: "yes", false: "no"}[k.Sequenced()]
		if row[0] != fmt.Sprint(uint8(k)) || row[1] != k.String() || row[3] != sequenced {
			t.Errorf("docs/wire.md says kind %s, name %s, sequenced %s; the code has %d, %v, %s",
				row[0], row[1], row[3], uint8(k), k, sequenced)
		}
	}
}

// TestWireFields wants a row of fields for every kind.
func TestWireFields(t *testing.T) {
	described := map[string]bool{}
	for _, row := range table(t, "docs/wire.md", "| kind | flags | match |") {
		name, _, _ := strings.Cut(row[0], ",")
		described[name] = true
	}
	for k := wire.Kind(1); k.Valid(); k++ {
		if !described[k.String()] {
			t.Errorf("docs/wire.md does not say which fields %v has", k)
		}
	}
}

func TestWireNumbers(t *testing.T) {
	text := read(t, "docs/wire.md")
	if want := fmt.Sprintf("\nVersion: %d\n", wire.Version); !strings.Contains(text, want) {
		t.Errorf("docs/wire.md does not say %q", want)
	}
	want := map[string]wire.Flags{"HasID": wire.HasID, "HasRange": wire.HasRange, "HasAck": wire.HasAck, "Sync": wire.Sync, "AsHeader": wire.AsHeader}
	for _, row := range table(t, "docs/wire.md", "| flag |") {
		var bit uint
		if _, err := fmt.Sscan(row[1], &bit); err != nil || want[row[0]] != 1<<bit {
			t.Errorf("docs/wire.md puts flag %s at bit %s; the code has %#x", row[0], row[1], want[row[0]])
		}
		delete(want, row[0])
	}
	if len(want) > 0 {
		t.Errorf("docs/wire.md lacks the flags %v", want)
	}
	dispositions := []string{
		wire.Taken: "taken", wire.Truncated: "truncated", wire.Discarded: "discarded", wire.Failed: "failed",
		wire.NoWindow: "no window", wire.OutOfRange: "out of range", wire.NotPermitted: "not permitted", wire.Unfit: "unfit",
	}
	rows := table(t, "docs/wire.md", "| disposition |")
	if len(rows) != len(dispositions) {
		t.Errorf("docs/wire.md lists %d dispositions of %d", len(rows), len(dispositions))
	}
	for i, row := range rows {
		if row[0] != fmt.Sprint(i) || row[1] != dispositions[i] {
			t.Errorf("docs/wire.md says disposition %s is %s; the code has %d, %s", row[0], row[1], i, dispositions[i])
		}
	}
}

// TestWireAtomics compares the tables of operations and types with the code.
func TestWireAtomics(t *testing.T) {
	ops := table(t, "docs/wire.md", "| operation | name |")
	for i, row := range ops {
		if row[0] != fmt.Sprint(i) || row[1] != wire.AtomicOp(i).String() {
			t.Errorf("docs/wire.md says operation %s is %s; the code has %d, %v", row[0], row[1], i, wire.AtomicOp(i))
		}
	}
	if wire.AtomicInt64.Has(wire.AtomicOp(len(ops))) {
		t.Errorf("docs/wire.md lacks operation %d", len(ops))
	}
	types := table(t, "docs/wire.md", "| type | name | bytes |")
	for i, row := range types {
		typ := wire.AtomicType(i)
		bytes := fmt.Sprint(typ.Size())
		if typ == wire.AtomicBytes {
			bytes = "all together"
		}
		has := ""
		for op := range wire.AtomicOp(len(ops)) {
			if typ.Has(op) {
				has += fmt.Sprintf("%d ", uint8(op))
			}
		}
		has = map[string]string{
			"0 1 2 3 4 5 6 7 8 9 10 11 12 ": "all", "0 1 2 3 4 5 12 ": "0 to 5, 12", "0 1 2 3 12 ": "0 to 3, 12", "0 1 12 ": "0, 1, 12",
		}[has]
		if code := []string{fmt.Sprint(i), typ.String(), bytes, fmt.Sprint(typ.Align()), has}; !slices.Equal(row[:5], code) {
			t.Errorf("docs/wire.md says of a type %q; the code has %q", row, code)
		}
	}
	if wire.AtomicType(len(types)).Size() != 0 {
		t.Errorf("docs/wire.md lacks type %d", len(types))
	}
}
