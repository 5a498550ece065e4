package gomx_test

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	testPattern    = regexp.MustCompile("`([a-z][a-z0-9_/]*) (Test[A-Z][A-Za-z0-9]*)`")
	testWord       = regexp.MustCompile(`[^.\w]Test[A-Z][A-Za-z0-9]*`)
	sectionPattern = regexp.MustCompile(`\b[IVX]+(\.\d+)+\b`)
)

// TestManualNamesTestsThatExist: what docs/manual.md says of a section is shown by tests, which are there.
func TestManualNamesTestsThatExist(t *testing.T) {
	h := theHouse(t)
	text := read(t, "docs/manual.md")
	named := testPattern.FindAllStringSubmatch(text, -1)
	for _, m := range named {
		if !h.hasTest(m[1], m[2]) {
			t.Errorf("docs/manual.md names %s of %s, which does not exist", m[2], m[1])
		}
	}
	if words := testWord.FindAllString(text, -1); len(words) != len(named) {
		t.Errorf("docs/manual.md names %d tests, and %d of them with their package, as `mx TestX`", len(words), len(named))
	}
	for _, row := range table(t, "docs/manual.md", "| section |") {
		if len(row) != 4 || row[3] == "" && !strings.HasPrefix(row[2], "Not there") {
			t.Errorf("docs/manual.md shows no test of %q", row[0])
		}
	}
}

// TestManualHasEverySection: each section that the documentation of mx names has a row in docs/manual.md, or a part of
// one.
func TestManualHasEverySection(t *testing.T) {
	var sections []string
	for _, row := range table(t, "docs/manual.md", "| section |") {
		sections = append(sections, sectionPattern.FindAllString(row[0], -1)...)
	}
	cited := 0
	for _, f := range theHouse(t).program() {
		if f.dir != "mx" {
			continue
		}
		for _, group := range f.syntax.Comments {
			for _, s := range sectionPattern.FindAllString(group.Text(), -1) {
				cited++
				if !slices.ContainsFunc(sections, func(row string) bool { return s == row || partOf(s, row) || partOf(row, s) }) {
					t.Errorf("%s names section %s of the manual, of which docs/manual.md has no row", f.path, s)
				}
			}
		}
	}
	if cited == 0 {
		t.Error("the documentation of mx names no section")
	}
}

func partOf(section, whole string) bool { return strings.HasPrefix(section, whole+".") }

// hasTest reports whether the package in dir, or its test package, has the test.
func (h *house) hasTest(dir, name string) bool {
	return slices.ContainsFunc(h.files, func(f goFile) bool {
		return f.test && f.dir == dir && slices.ContainsFunc(f.syntax.Decls, func(d ast.Decl) bool {
			fn, ok := d.(*ast.FuncDecl)
			return ok && fn.Recv == nil && fn.Name.Name == name
		})
	})
}
