package gomx_test

import (
	"bytes"
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// Longest files and functions, lines.
const (
	longestFile     = 600
	longestFunction = 80
)

func TestLengths(t *testing.T) {
	h := theHouse(t)
	for _, name := range h.paths {
		switch path.Ext(name) {
		case ".go", ".c", ".s", ".sh":
			if n := strings.Count(read(t, name), "\n"); n > longestFile {
				t.Errorf("%s has %d lines, more than %d: cut it by subject", name, n, longestFile)
			}
		}
	}
	for _, f := range h.program() {
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				if n := h.set.Position(fn.End()).Line - h.set.Position(fn.Pos()).Line + 1; n > longestFunction {
					t.Errorf("%v: %s has %d lines, more than %d", h.set.Position(fn.Pos()), fn.Name.Name, n, longestFunction)
				}
			}
		}
	}
}

// TestCommandComments wants a comment at every command. staticcheck wants one at every other package (ST1000), and passes
// over package main.
func TestCommandComments(t *testing.T) {
	documented := map[string]bool{}
	for _, f := range theHouse(t).program() {
		if f.syntax.Name.Name == "main" {
			documented[f.dir] = documented[f.dir] || f.syntax.Doc != nil
		}
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("no file of the command %s has a comment above its package clause", dir)
		}
	}
}

// TestExportedNames wants a comment at every exported name of every package that others can import. Which form the comments
// have is checked by staticcheck (ST1020 to ST1022), which does not miss comments that are not there.
func TestExportedNames(t *testing.T) {
	h := theHouse(t)
	for _, f := range h.program() {
		if f.syntax.Name.Name == "main" {
			continue
		}
		for _, d := range f.syntax.Decls {
			for _, bare := range undocumented(d) {
				t.Errorf("%v: %s has no comment", h.set.Position(bare.Pos()), bare.Name)
			}
		}
	}
}

func undocumented(d ast.Decl) (bare []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || exportedType(d.Recv.List[0].Type)) {
			bare = append(bare, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			bare = append(bare, undocumentedSpec(d, spec)...)
		}
	}
	return bare
}

func undocumentedSpec(d *ast.GenDecl, spec ast.Spec) (bare []*ast.Ident) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return nil
		}
		if d.Doc == nil && s.Doc == nil && s.Comment == nil {
			bare = append(bare, s.Name)
		}
		if i, ok := s.Type.(*ast.InterfaceType); ok {
			for _, m := range i.Methods.List {
				if m.Doc == nil && m.Comment == nil {
					bare = append(bare, m.Names...)
				}
			}
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
				bare = append(bare, name)
			}
		}
	}
	return bare
}

func exportedType(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.StarExpr:
		return exportedType(e.X)
	case *ast.IndexExpr:
		return exportedType(e.X)
	case *ast.Ident:
		return token.IsExported(e.Name)
	}
	return false
}

// TestNoMachinePaths wants nothing in the house that holds on one machine only.
func TestNoMachinePaths(t *testing.T) {
	slash := "/"
	machine := []string{slash + "work/", slash + "home/", slash + "root/", slash + "Users/"}
	for _, name := range theHouse(t).paths {
		b, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range machine {
			if bytes.Contains(b, []byte(m)) {
				t.Errorf("%s mentions %s, which is there on one machine only", name, m)
			}
		}
	}
}
