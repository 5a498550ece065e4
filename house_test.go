// Package gomx_test holds the house to its plan: which package may import what, where
// unsafe code lives, what is documented, and that the documents tell the truth.
package gomx_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "gomx"

// goFile is one Go file of the house, whatever system it is built for.
type goFile struct {
	path, dir string // relative, with slashes
	test      bool
	syntax    *ast.File
	imports   []string
}

// house is everything in the checkout.
type house struct {
	set   *token.FileSet
	paths []string // of all files, in order
	files []goFile
}

var load = sync.OnceValues(func() (*house, error) {
	h := &house{set: token.NewFileSet()}
	return h, filepath.WalkDir(".", h.visit)
})

func theHouse(t *testing.T) *house {
	t.Helper()
	h, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) visit(name string, d fs.DirEntry, err error) error {
	name = filepath.ToSlash(name)
	switch {
	case err != nil:
		return err
	case d.IsDir() && (d.Name() == ".git" || name == "bin"):
		return filepath.SkipDir
	case d.IsDir() || !d.Type().IsRegular() || d.Name() == ".git": // in a worktree it is a file, with a path of the machine
		return nil
	}
	h.paths = append(h.paths, name)
	if path.Ext(name) != ".go" || strings.Contains(name, "testdata/") {
		return nil
	}
	syntax, err := parser.ParseFile(h.set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	f := goFile{path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), syntax: syntax}
	for _, spec := range syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		f.imports = append(f.imports, imported)
	}
	h.files = append(h.files, f)
	return nil
}

// program returns the files that are no tests.
func (h *house) program() []goFile {
	return slices.DeleteFunc(slices.Clone(h.files), func(f goFile) bool { return f.test })
}

// exists reports whether a file or folder is part of the house.
func (h *house) exists(name string) bool {
	name = path.Clean(name)
	return name == "." || slices.ContainsFunc(h.paths, func(p string) bool {
		return p == name || strings.HasPrefix(p, name+"/")
	})
}

// within reports whether name is the folder or file pkg, or inside of it.
func within(pkg, name string) bool { return name == pkg || strings.HasPrefix(name, pkg+"/") }

// packageOf returns the longest of the packages that name is within, or "".
func packageOf[V any](packages map[string]V, name string) string {
	best := ""
	for pkg := range packages {
		if within(pkg, name) && len(pkg) > len(best) {
			best = pkg
		}
	}
	return best
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
