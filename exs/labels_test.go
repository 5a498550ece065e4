package exs_test

import (
	"bytes"
	"runtime/pprof"
	"strings"
	"testing"

	"gomx/exs"
)

// TestLabels finds the goroutine that lets strangers in among those of the library in a profile.
func TestLabels(t *testing.T) {
	w := newWorld(t, "tcp")
	w.listener(exs.Stream)
	w.connect(exs.Stream)
	var all bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		t.Fatal(err)
	}
	for _, labels := range []string{`{"gomx":"exs connections"}`, `"gomx":"progress"}`, `"gomx":"accept"}`} {
		if !strings.Contains(all.String(), labels) {
			t.Errorf("no goroutine has the labels %s:\n%s", labels, all.String())
		}
	}
}
