package main

import (
	"fmt"
	"io"
	"strings"

	"gomx/bench/internal/child"
)

// progress tells whoever waits what is being measured: a line per job and
// round, to which each subject's name is added when it is through.
type progress struct {
	w       io.Writer
	verbose bool
}

func (p *progress) note(format string, args ...any) {
	fmt.Fprintf(p.w, format+"\n", args...)
}

func (p *progress) start(round, rounds int, j job) {
	fmt.Fprintf(p.w, "round %d of %d: %s:", round+1, rounds, j)
	if p.verbose {
		fmt.Fprintln(p.w)
	}
}

func (p *progress) measured(name string) { fmt.Fprintf(p.w, " %s", name) }

func (p *progress) failed(name string, err error) {
	fmt.Fprintf(p.w, " %s failed:\n  %s\n", name, strings.ReplaceAll(err.Error(), "\n", "\n  "))
}

func (p *progress) done() { fmt.Fprintln(p.w) }

// ran shows a command and all it printed, if that is wanted.
func (p *progress) ran(c child.Command, stdout, stderr []byte) {
	if !p.verbose {
		return
	}
	fmt.Fprintf(p.w, "  $ %s\n", c)
	for _, output := range [][]byte{stdout, stderr} {
		if text := strings.TrimSpace(string(output)); text != "" {
			fmt.Fprintf(p.w, "    %s\n", strings.ReplaceAll(text, "\n", "\n    "))
		}
	}
}
