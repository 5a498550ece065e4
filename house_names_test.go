package gomx_test

import (
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// namesInTables are the columns of documents that set our names beside those of others, and the package of names that stand there without one.
var namesInTables = []struct {
	document string
	column   int
	pkg      string
}{
	{"docs/ofi.md", 1, "mx"},
	{"docs/glossary.md", 0, "mx"},
	{"docs/windows.md", 1, "mpi"},
}

// exportedName finds Name, Type.Member and package.Name, with what follows them, such as arguments.
var exportedName = regexp.MustCompile(`^(?:(mx|exs|mpi)\.)?([A-Z][A-Za-z0-9]*)(?:\.([A-Z][A-Za-z0-9]*))?(?:\(|$)`)

// TestNamesInTablesExist: what such a column shows as ours is declared by the package, and a member by its type.
func TestNamesInTablesExist(t *testing.T) {
	declared := map[string]map[string]bool{}
	for _, pkg := range interfaces {
		declared[pkg] = theHouse(t).exportedBy(pkg)
	}
	for _, of := range namesInTables {
		found := 0
		for line := range strings.SplitSeq(read(t, of.document), "\n") {
			cells := strings.Split(strings.Trim(line, "|"), "|")
			if !strings.HasPrefix(line, "|") || of.column >= len(cells) {
				continue
			}
			for _, code := range codePattern.FindAllStringSubmatch(cells[of.column], -1) {
				m := exportedName.FindStringSubmatch(code[1])
				if m == nil || strings.ToUpper(m[2]) == m[2] { // of others
					continue
				}
				found++
				pkg, name := m[1], strings.TrimSuffix(m[2]+"."+m[3], ".")
				if pkg == "" {
					pkg = of.pkg
				}
				if !declared[pkg][name] {
					t.Errorf("%s mentions %s, which package %s does not have", of.document, code[1], pkg)
				}
			}
		}
		if found < 10 {
			t.Errorf("%s has %d names in column %d", of.document, found, of.column)
		}
	}
}

// exportedBy returns the exported names of a package: what it declares, members as Type.Member and, as texts have them
// where the type goes without saying, alone.
func (h *house) exportedBy(pkg string) map[string]bool {
	names := map[string]bool{}
	for _, f := range h.program() {
		if f.dir != pkg {
			continue
		}
		for _, decl := range f.syntax.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				names[d.Name.Name] = true
				if d.Recv != nil {
					names[receiverOf(d)+"."+d.Name.Name] = true
				}
			case *ast.GenDecl:
				addSpecs(names, d)
			}
		}
	}
	maps.DeleteFunc(names, func(name string, _ bool) bool {
		return slices.ContainsFunc(strings.Split(name, "."), func(part string) bool { return !token.IsExported(part) })
	})
	return names
}

func addSpecs(names map[string]bool, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.ValueSpec:
			for _, id := range s.Names {
				names[id.Name] = true
			}
		case *ast.TypeSpec:
			names[s.Name.Name] = true
			if fields, ok := s.Type.(*ast.StructType); ok {
				for _, field := range fields.Fields.List {
					for _, id := range field.Names {
						names[s.Name.Name+"."+id.Name] = true
					}
				}
			}
		}
	}
}

func receiverOf(d *ast.FuncDecl) string {
	expr := d.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}
