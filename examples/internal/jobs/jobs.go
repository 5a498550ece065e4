// Package jobs runs examples in tests, with ranks that are goroutines or processes.
package jobs

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"gomx/mpi"
)

// bound is how long a job may take, however slow the machine is.
const bound = 2 * time.Minute

// Output runs an example with so many ranks, and returns what they have written. The test
// fails if it ends with an error. The writer is rank 0's to use.
func Output(t testing.TB, ranks int, run func(world *mpi.Comm, w io.Writer) error, opts ...mpi.Option) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	var b strings.Builder
	err := mpi.Run(ranks, func(world *mpi.Comm) error { return run(world.WithContext(ctx), &b) }, opts...)
	if err != nil {
		t.Fatalf("%d ranks: %v", ranks, err)
	}
	return b.String()
}

// Line returns the first line of the output with the word in it.
func Line(t testing.TB, output, word string) string {
	t.Helper()
	for line := range strings.Lines(output) {
		if strings.Contains(line, word) {
			return line
		}
	}
	t.Fatalf("no line has %q in it:\n%s", word, output)
	return ""
}
