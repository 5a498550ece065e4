package endpoint_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gomx/endpoint/endpointtest"
)

var rewrite = flag.Bool("rewrite", false, "write the output of the traces into their files")

func TestTraces(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { checkTrace(t, file) })
	}
}

func checkTrace(t *testing.T, file string) {
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := endpointtest.NewTrace().Run(string(want))
	if got == string(want) {
		return
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			t.Fatalf("line %d is\n%s\nwant\n%s", i+1, g[i], strings.Join(w[min(i, len(w)):min(i+1, len(w))], ""))
		}
	}
	t.Fatalf("output ends after %d lines, want %d", len(g), len(w))
}
