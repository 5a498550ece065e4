package newcomer

import (
	"errors"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gomx/internal/testlength"
)

// mistakes are the sections of docs/errors.md, with the word by which the program below makes the mistake, and what it
// needs in its environment. What ends well says so.
var mistakes = []struct {
	section, word string
	env           []string
	well          bool
	under         bool // mx_run, with two ranks; it says in a line of its own which one has failed
}{
	{section: "Wrong filter", word: "filter"},
	{section: "Wrong host", word: "host"},
	{section: "Wrong endpoint id", word: "id"},
	{section: "Endpoint id out of range", word: "range"},
	{section: "Endpoint id in use", word: "taken"},
	{section: "Port in the place of a board", word: "board"},
	{section: "Wrong port", word: "port"},
	{section: "Another server", word: "server"},
	{section: "Port in use", word: "listen"},
	{section: "Wrong rank", word: "rank", env: []string{"MX_LOCAL=2"}},
	{section: "Wrong size", word: "size", env: []string{"MX_LOCAL=2"}},
	{section: "Wrong type", word: "type", env: []string{"MX_LOCAL=2", "MX_CHECK=1"}},
	{section: "Different counts", word: "counts", env: []string{"MX_LOCAL=2"}},
	{section: "A mistake of all ranks", word: "alike", under: true},
	{section: "Missing program", word: "", under: true},
	{section: "Small buffer", word: "buffer", env: []string{"MX_LOCAL=2"}},
	{section: "Missing Init", word: "init"},
	{section: "Missing Wait", word: "wait", env: []string{"MX_LOCAL=2"}, well: true},
	{section: "Broken promise", word: "promise"},
	{section: "mpirun of Open MPI", word: "mpirun", env: []string{"OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=0"}},
}

var messagePattern = regexp.MustCompile("(?s)```text\n(.*?)```\n")

// said returns the message that a section of docs/errors.md shows, as the expression of a line.
func said(t *testing.T, section string) *regexp.Regexp {
	t.Helper()
	return saidIn(t, "docs/errors.md", section)
}

// saidIn is said of any document.
func saidIn(t *testing.T, document, section string) *regexp.Regexp {
	t.Helper()
	_, rest, found := strings.Cut(text(t, document), "\n## "+section+"\n")
	m := messagePattern.FindStringSubmatch(rest)
	if !found || m == nil {
		t.Fatalf("%s has no section %q that shows a message", document, section)
	}
	var parts []string
	for part := range strings.SplitSeq(words(m[1]), "…") {
		parts = append(parts, regexp.QuoteMeta(part))
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$")
}

func buildMistakes(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "mistakes")
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", program, "./mistakes").CombinedOutput(); err != nil {
		t.Fatalf("building mistakes: %v\n%s", err, out)
	}
	return program
}

// buildRun builds mx_run.
func buildRun(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "mx_run")
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", program, "gomx/cmd/mx_run").CombinedOutput(); err != nil {
		t.Fatalf("building mx_run: %v\n%s", err, out)
	}
	return program
}

// TestMistakes makes each mistake of docs/errors.md, and finds the line that it shows.
func TestMistakes(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	program, run := buildMistakes(t), buildRun(t)
	if n := strings.Count(text(t, "docs/errors.md"), "\n## "); n != len(mistakes) {
		t.Errorf("docs/errors.md has %d sections, and this test makes %d mistakes", n, len(mistakes))
	}
	for _, m := range mistakes {
		t.Run(m.word, func(t *testing.T) {
			want := said(t, m.section)
			able(t, m.word)
			line, most := program+" "+m.word, 2 // one, and nothing behind its end
			switch {
			case m.under && m.word == "":
				line = run + " -n 2 ./nosuch"
			case m.under:
				line, most = run+" -n 2 "+line, 3
			}
			out, err := shell(t, ".", line, m.env...)
			lines := strings.Split(out, "\n")
			if !slices.ContainsFunc(lines, want.MatchString) {
				t.Errorf("it prints\n%s\nand docs/errors.md says\n%v", out, want)
			}
			if m.well != (err == nil) {
				t.Errorf("it ends with %v", err)
			}
			if !m.well && m.word != "promise" && len(lines) != most {
				t.Errorf("it prints %d lines in the place of %d:\n%s", len(lines)-1, most-1, out)
			}
		})
	}
}

// able skips mistakes that this machine does not show.
func able(t *testing.T, mistake string) {
	t.Helper()
	switch mistake {
	case "host":
		_, err := net.DefaultResolver.LookupHost(t.Context(), "no-such-host.invalid")
		if unknown, ok := errors.AsType[*net.DNSError](err); !ok || !unknown.IsNotFound {
			t.Skipf("no name server says that a name is unknown: %v", err)
		}
	case "promise":
		if runtime.GOMAXPROCS(0) == 1 {
			t.Skip("on a single processor calls hardly ever overlap")
		}
	}
}

// TestMistakeOfMpirun makes the last one with Open MPI itself.
func TestMistakeOfMpirun(t *testing.T) {
	long(t)
	launcher, err := exec.LookPath("mpirun.openmpi")
	if err != nil {
		t.Skip("mpirun.openmpi (Debian: openmpi-bin) is not installed")
	}
	program := buildMistakes(t)
	out, err := shell(t, ".", launcher+" --allow-run-as-root --oversubscribe -n 2 "+program+" mpirun")
	if err == nil {
		t.Error("a job of ranks that don't find each other ends well")
	}
	if want := said(t, "mpirun of Open MPI"); !slices.ContainsFunc(strings.Split(out, "\n"), want.MatchString) {
		t.Errorf("it prints\n%s\nand docs/errors.md says\n%v", out, want)
	}
}
