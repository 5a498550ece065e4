package mpi_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"gomx/mpi"
)

// starting are the calls that wait for nothing but the first connection with rank 2, and whose operation goes on after them.
func starting() []blocking {
	one, buf := mpi.Contiguous(1), []int64{1}
	persistent := func(p *mpi.Persistent, err error) (mpi.Request, error) {
		if err != nil {
			return mpi.Request{}, err
		}
		return p.Start()
	}
	var list []blocking
	for name, start := range map[string]func(c *mpi.Comm) (mpi.Request, error){
		"Isend":            func(c *mpi.Comm) (mpi.Request, error) { return mpi.Isend(c, buf, 2, 3) },
		"Issend":           func(c *mpi.Comm) (mpi.Request, error) { return mpi.Issend(c, buf, 2, 3) },
		"Ibsend":           func(c *mpi.Comm) (mpi.Request, error) { return mpi.Ibsend(c, buf, 2, 3) },
		"Irsend":           func(c *mpi.Comm) (mpi.Request, error) { return mpi.Irsend(c, buf, 2, 3) },
		"Irecv":            func(c *mpi.Comm) (mpi.Request, error) { return mpi.Irecv(c, buf, 2, 3) },
		"IsendLayout":      func(c *mpi.Comm) (mpi.Request, error) { return mpi.IsendLayout(c, buf, one, 2, 3) },
		"IrecvLayout":      func(c *mpi.Comm) (mpi.Request, error) { return mpi.IrecvLayout(c, buf, one, 2, 3) },
		"Persistent.Start": func(c *mpi.Comm) (mpi.Request, error) { return persistent(mpi.SendInit(c, buf, 2, 3)) },
		"StartAll": func(c *mpi.Comm) (q mpi.Request, err error) {
			p, err := mpi.RecvInit(c, buf, 2, 3)
			if err == nil {
				_, err = mpi.StartAll([]*mpi.Persistent{p}, nil)
			}
			return q, err
		},
	} {
		list = append(list, blocking{name: name, call: func(c *mpi.Comm) error { return second(start(c)) }})
	}
	return append(list,
		blocking{name: "Send", call: func(c *mpi.Comm) error { return mpi.Send(c, buf, 2, 3) }},
		blocking{name: "Ssend", call: func(c *mpi.Comm) error { return mpi.Ssend(c, buf, 2, 3) }},
		blocking{name: "Bsend", call: func(c *mpi.Comm) error { return mpi.Bsend(c, buf, 2, 3) }},
		blocking{name: "Rsend", call: func(c *mpi.Comm) error { return mpi.Rsend(c, buf, 2, 3) }},
		blocking{name: "Recv", call: func(c *mpi.Comm) error { return second(mpi.Recv(c, buf, 2, 3)) }})
}

// elsewhere are the calls on a communicator, a window or a request that end with no context, and those that have tests of their own.
var elsewhere = map[string]string{
	"Finalize":     "TestFinalizeThatOneGivesUp",
	"Mrecv":        "TestMatchedWithAStoppedSender",
	"Imrecv":       "the message is there, and its request is like that of Irecv",
	"Iprobe":       "it waits for nothing",
	"Improbe":      "it waits for nothing",
	"SetAlgorithm": "it waits for nothing",
	"SendInit":     "it waits for nothing, and the Start that follows is in the table",
	"SsendInit":    "it waits for nothing",
	"BsendInit":    "it waits for nothing",
	"RsendInit":    "it waits for nothing",
	"RecvInit":     "it waits for nothing",

	"Request.Test":   "it waits for nothing",
	"TestAll":        "it waits for nothing",
	"TestAny":        "it waits for nothing",
	"TestSome":       "it waits for nothing",
	"Request.Cancel": "it waits for nothing",
	"Request.Free":   "it waits for nothing",

	"Free":          "it ignores the context: TestFreeIgnoresTheContext",
	"Win.Free":      "it ignores the context: TestWinUndoesWithoutItsContext",
	"Win.Unlock":    "it ignores the context: TestWinUndoesWithoutItsContext",
	"Win.UnlockAll": "it ignores the context: TestWinUndoesWithoutItsContext",
}

// TestTableOfCallsThatWait: every function and method of package mpi that a context can end is in a table of calls that are given up with
// a stopped, a slow and a dead peer, or has its reason why not.
func TestTableOfCallsThatWait(t *testing.T) {
	tried := map[string]bool{}
	for _, b := range slices.Concat(blockings(), starting()) {
		name, _, _ := strings.Cut(b.name, " ")
		tried[name] = true
	}
	for name, why := range elsewhere {
		if tried[name] {
			t.Errorf("%s is in the table, and is said not to be: %s", name, why)
		}
		tried[name] = true
	}
	found := map[string]bool{}
	for _, name := range endable(t) {
		if found[name] = true; !tried[name] {
			t.Errorf("a context can end %s, and it is not in the table", name)
		}
	}
	for name := range tried {
		if !found[name] {
			t.Errorf("%s is in the table, and is no function that a context can end", name)
		}
	}
}

// endable returns the exported functions and methods of package mpi that return an error and take a communicator, a window, a request, a
// message, or a context. Generic functions are unknown to package reflect: the sources have them. The methods of Comm are named without it.
func endable(t *testing.T) (names []string) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var all []*ast.FuncDecl
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range syntax.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.IsExported() {
				all = append(all, f)
			}
		}
	}
	for _, f := range all {
		name, takes := f.Name.Name, false
		if f.Recv != nil {
			of := typeName(f.Recv.List[0].Type)
			takes = slices.Contains(waitFor, of)
			if of != "Comm" {
				name = of + "." + name
			}
		}
		for _, p := range f.Type.Params.List {
			takes = takes || slices.Contains(waitFor, typeName(p.Type))
		}
		if takes && returnsError(f) && !isOfComm(f, all) {
			names = append(names, name)
		}
	}
	return names
}

// waitFor are the types of what calls wait with.
var waitFor = []string{"Comm", "Cart", "Win", "Request", "Message", "Persistent", "Context", "Duration", "Time"}

// typeName returns the name of a type, or of what it points to or consists of.
func typeName(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.StarExpr:
		return typeName(x.X)
	case *ast.ArrayType:
		return typeName(x.Elt)
	case *ast.IndexExpr:
		return typeName(x.X)
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}

func returnsError(f *ast.FuncDecl) bool {
	if f.Type.Results == nil {
		return false
	}
	last := f.Type.Results.List[len(f.Type.Results.List)-1]
	return typeName(last.Type) == "error"
}

// isOfComm reports whether a method of Cart is that of its communicator, or waits for nobody, as those that only ask for places in the grid.
func isOfComm(f *ast.FuncDecl, all []*ast.FuncDecl) bool {
	if f.Recv == nil || typeName(f.Recv.List[0].Type) != "Cart" {
		return false
	}
	return slices.Contains([]string{"Coords", "RankOf", "Shift"}, f.Name.Name) || slices.ContainsFunc(all, func(g *ast.FuncDecl) bool {
		return g.Recv != nil && typeName(g.Recv.List[0].Type) == "Comm" && g.Name.Name == f.Name.Name
	})
}

// refusesAll wants each call to end with its context before the ranks are connected, and to say that it has started nothing.
func refusesAll(c *mpi.Comm) error {
	for _, b := range starting() {
		with, cancel := brief(c)
		err := b.call(with)
		cancel()
		if !contextEnded(err) || !errors.Is(err, mpi.ErrNotBegun) {
			return fmt.Errorf("%s: error %v, want that of the context, before anything was started", b.name, err)
		}
	}
	return nil
}
