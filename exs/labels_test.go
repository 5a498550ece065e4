package exs_test

import (
	"bytes"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"gomx/exs"
)

// TestLabels finds the goroutine that lets strangers in among those of the library in a profile. A goroutine labels itself when
// it first runs, for which it has some time.
func TestLabels(t *testing.T) {
	w := newWorld(t, "tcp")
	w.listener(exs.Stream)
	w.connect(exs.Stream)
	var missing []string
	var all bytes.Buffer
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		all.Reset()
		if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
			t.Fatal(err)
		}
		missing = missing[:0]
		for _, labels := range []string{`{"gomx":"exs connections"}`, `"gomx":"progress"}`, `"gomx":"accept"}`} {
			if !strings.Contains(all.String(), labels) {
				missing = append(missing, labels)
			}
		}
		if len(missing) == 0 || time.Now().After(deadline) {
			break
		}
	}
	if len(missing) > 0 {
		t.Errorf("no goroutine has the labels %s:\n%s", missing, all.String())
	}
}
