package gomx_test

import (
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
