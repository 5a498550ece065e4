package newcomer

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const source = "WHERE-YOU-HAVE-IT"

// commands returns the first block of commands below a heading of README.md.
func commands(t *testing.T, heading string) (lines []string) {
	t.Helper()
	_, rest, found := strings.Cut(text(t, "README.md"), "\n"+heading+"\n")
	if !found {
		t.Fatalf("README.md has no %q", heading)
	}
	for line := range strings.Lines(rest) {
		command, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "    ")
		if is {
			lines = append(lines, command)
		} else if len(lines) > 0 {
			break
		}
	}
	return lines
}

var printsPattern = regexp.MustCompile("prints `([^`]+)`")

var whole = flag.Bool("newcomer.clone", false, "have TestReadme build a clone, with all it needs, as somebody does who has nothing yet")

// TestReadme goes from nothing to a first message in a module of one's own: the four commands, and each of the three
// programs, which print what README.md says.
func TestReadme(t *testing.T) {
	if !*whole {
		t.Skip("only with -newcomer.clone: this builds everything anew; .ci/run does it")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	if _, err := os.Stat(filepath.Join(root(t), ".git")); err != nil {
		t.Skip("this is not a checkout that git could clone")
	}
	lines := commands(t, "## Use it in your module")
	if len(lines) != 4 || !strings.Contains(lines[0], source) || lines[3] != "go run ." {
		t.Fatalf("README.md shows %q: want four commands, which clone first and run last", lines)
	}
	all := programs(text(t, "README.md"))
	says := printsPattern.FindAllStringSubmatch(text(t, "README.md"), -1)
	if len(all) != 3 || len(says) != 3 {
		t.Fatalf("README.md has %d programs, and says of %d what they print", len(all), len(says))
	}

	// The clone lies elsewhere each time. So it is built once, for all runs of this test, and without the debugger's tables.
	t.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -trimpath -ldflags=-w"))
	dir := t.TempDir()
	must(t, dir, strings.ReplaceAll(lines[0], source, root(t)))
	must(t, dir, lines[1]+" && "+lines[2])
	mine := filepath.Join(dir, "hello")
	for i, program := range all {
		save(t, mine, "main.go", program)
		if got := must(t, mine, lines[3]); got != says[i][1]+"\n" {
			t.Errorf("program %d of README.md prints %q, not %q", i+1, got, says[i][1])
		}
	}
	save(t, mine, "main.go", all[0])
	if got := must(t, mine, "MX_LOCAL=4 go run ."); strings.Count(got, "of 4: hello from rank") != 4 {
		t.Errorf("four ranks that are goroutines print\n%s", got)
	}
	if got := must(t, mine, "go run gomx/cmd/mx_run -n 4 ."); strings.Count(got, "of 4: hello from rank") != 4 {
		t.Errorf("four ranks that are processes print\n%s", got)
	}
	bin := t.TempDir()
	install := "cd ../gomx && go install ./cmd/..."
	if !strings.Contains(text(t, "README.md"), "`"+install+"`") {
		t.Errorf("README.md does not say %s", install)
	}
	must(t, mine, install, "GOBIN="+bin)
	for _, name := range []string{"mx_info", "mx_pingpong", "mx_run", "mx_top", "exs_blast"} {
		if got := must(t, mine, filepath.Join(bin, name)+" -version"); !strings.HasPrefix(got, name+" of gomx ") {
			t.Errorf("%s -version prints %q", name, got)
		}
	}
}

// TestReadmeReplace does the same with the dependency in go.mod, and counts what it brings along.
func TestReadmeReplace(t *testing.T) {
	t.Parallel()
	long(t)
	dir := newModule(t, programs(text(t, "README.md"))[0])
	if got := must(t, dir, "go run ."); !strings.HasPrefix(got, "rank 0 of 1") {
		t.Errorf("it prints %q", got)
	}
	if got := must(t, dir, "go run gomx/cmd/mx_run -n 4 ."); strings.Count(got, "of 4: hello from rank") != 4 {
		t.Errorf("four ranks that are processes print\n%s", got)
	}
	b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), "// indirect"); n > 4 {
		t.Errorf("go.mod of a program with gomx/mpi has %d indirect modules, more than 4:\n%s", n, b)
	}
}
