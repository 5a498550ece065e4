package gomx_test

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTutorialIsTheExamples wants each piece of Go in docs/mpi.md to be in a program of examples, or in
// an example of package mpi, as it stands there.
func TestTutorialIsTheExamples(t *testing.T) {
	h := theHouse(t)
	var programs []string
	for _, f := range h.files {
		if within("examples", f.path) || within("mpi", f.path) {
			programs = append(programs, read(t, f.path))
		}
	}
	text, pieces := read(t, "docs/mpi.md"), 0
	for {
		_, rest, found := strings.Cut(text, "```go\n")
		if !found {
			break
		}
		piece, after, closed := strings.Cut(rest, "```\n")
		if !closed {
			t.Fatal("a piece of Go in docs/mpi.md has no end")
		}
		if !anyContains(programs, piece) {
			t.Errorf("docs/mpi.md has a piece of Go that is in no example:\n%s", piece)
		}
		text, pieces = after, pieces+1
	}
	if pieces == 0 {
		t.Error("docs/mpi.md shows no Go")
	}
}

func anyContains(texts []string, piece string) bool {
	for _, text := range texts {
		if strings.Contains(text, piece) {
			return true
		}
	}
	return false
}

// TestFunctionsOfMPI wants each function and method of package mpi in one of the documents about it.
func TestFunctionsOfMPI(t *testing.T) {
	var documents strings.Builder
	for _, name := range []string{"mpi", "collectives", "windows", "hangs"} {
		documents.WriteString(read(t, "docs/"+name+".md"))
	}
	text := documents.String()
	ofErrors := []string{"Error", "Unwrap", "String"}
	for _, f := range theHouse(t).program() {
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || f.dir != "mpi" || !fn.Name.IsExported() || slices.Contains(ofErrors, fn.Name.Name) {
				continue
			}
			if fn.Recv != nil && !exportedType(fn.Recv.List[0].Type) {
				continue
			}
			if !regexp.MustCompile(`\b` + fn.Name.Name + `\b`).MatchString(text) {
				t.Errorf("%s: no document has %s", f.path, fn.Name.Name)
			}
		}
	}
}
