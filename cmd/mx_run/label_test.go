package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestLongLines: a line of more than is kept back is written in parts, each with the rank, and nothing is added where it ends.
func TestLongLines(t *testing.T) {
	for _, length := range []int{1, longestPart - 1, longestPart, longestPart + 1, 3 * longestPart} {
		for _, step := range []int{1 << 20, longestPart, 1000} {
			var out bytes.Buffer
			l := labels(&out, 1)(0).(*labeller)
			text := strings.Repeat("z", length) + "\nnext\n"
			for i := 0; i < len(text); i += step {
				if _, err := l.Write([]byte(text[i:min(i+step, len(text))])); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			rest := out.String()
			for line := range strings.Lines(rest) {
				if !strings.HasPrefix(line, "[0] ") || len(line) == len("[0] \n") {
					t.Errorf("%d bytes by %d: a line %.10q", length, step, line)
				}
			}
			want := strings.Repeat("z", length) + "next"
			if got := strings.NewReplacer("[0] ", "", "\n", "").Replace(rest); got != want {
				t.Errorf("%d bytes by %d: %d bytes have come, want %d", length, step, len(got), len(want))
			}
		}
	}
}
