package gomx_test

import (
	"go/ast"
	"strings"
	"testing"
)

// TestCodesThatAreNeverGiven: a code of MX that nothing here gives is one that programs may wait for in vain. The manual's page
// says so of each.
func TestCodesThatAreNeverGiven(t *testing.T) {
	h := theHouse(t)
	manual := read(t, "docs/manual.md")
	for _, c := range []struct {
		prefix, heading string
		declared        []string                 // the files that declare the codes, and whose other uses of them don't count
		inside          func(name string) string // what the engine calls it
	}{
		{"Err", "## Return codes that are never given", []string{"mx/codes.go"}, func(name string) string { return name }},
		{"Status", "## Status codes that are never given", []string{"mx/status.go", "endpoint/codes.go"},
			func(name string) string { return strings.TrimPrefix(name, "Status") }},
	} {
		_, section, found := strings.Cut(manual, c.heading+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !found {
			t.Errorf("docs/manual.md lacks %q", c.heading)
		}
		codes := h.constants(c.declared[0], c.prefix)
		if len(codes) < 10 {
			t.Errorf("%s declares %d codes", c.declared[0], len(codes))
		}
		given := h.mentions(c.declared)
		for _, name := range codes {
			if !given[name] && !given[c.inside(name)] && !strings.Contains(section, "`mx."+name+"`") {
				t.Errorf("nothing gives mx.%s, and docs/manual.md does not say so", name)
			}
		}
	}
}

// constants returns the constants of a file whose names begin so.
func (h *house) constants(file, prefix string) (list []string) {
	for _, f := range h.program() {
		if f.path != file {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				for _, name := range spec.Names {
					if strings.HasPrefix(name.Name, prefix) {
						list = append(list, name.Name)
					}
				}
			}
			return true
		})
	}
	return list
}

// mentions returns what the interface and what lies under it speak of, except in some files.
func (h *house) mentions(except []string) map[string]bool {
	all := map[string]bool{}
	for _, f := range h.program() {
		below := f.dir == "mx" || within("endpoint", f.dir) || within("transport", f.dir)
		if !below || strings.Contains(strings.Join(except, " "), f.path) {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				all[id.Name] = true
			}
			return true
		})
	}
	return all
}
