// Package newcomer does what the texts for new users say, word for word, in empty folders outside of the checkout: the
// commands and programs of README.md, those of docs/tutorial, the mistakes of docs/errors.md, and the troubles of
// docs/troubleshooting.md.
package newcomer

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// patience is how long a command of a text may take, on a busy machine that has built nothing yet.
const patience = 4 * time.Minute

// checkout is the root of the module, as the tests' own folder sees it.
const checkout = "../.."

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(checkout)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func text(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(checkout, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// shell runs a line of a text as it stands there, and returns all that it has printed, and its error.
func shell(t *testing.T, dir, line string, env ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	run := exec.CommandContext(ctx, "bash", "-c", line)
	run.Dir = dir
	run.Env = append(environment(), env...)
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = 10 * time.Second
	out, err := run.CombinedOutput()
	return string(out), err
}

// environment is ours without what a new user does not have: another workspace, a launcher, and our variables.
func environment() (env []string) {
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		if name == "GOWORK" || strings.HasPrefix(name, "MX_") || strings.HasPrefix(name, "PMI_") || strings.HasPrefix(name, "SLURM_") {
			continue
		}
		env = append(env, e)
	}
	// The checkout may belong to another user, whom git then does not trust.
	env = append(env, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -ldflags=-w")) // the debugger's tables take half of the linker's time
	return append(env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
}

// must runs a line that has to succeed.
func must(t *testing.T, dir, line string, env ...string) string {
	t.Helper()
	out, err := shell(t, dir, line, env...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return out
}

func save(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// long skips a test that builds most of the module.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: this builds most of the module, or of it for another folder")
	}
}

var programPattern = regexp.MustCompile("(?s)```go\n(.*?)```\n")

// programs returns the complete programs of a text.
func programs(text string) (all []string) {
	for _, m := range programPattern.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "\npackage main\n") {
			all = append(all, m[1])
		}
	}
	return all
}

// newModule makes a module with the program as README.md says for those who want the dependency in their go.mod.
func newModule(t *testing.T, program string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	must(t, dir, "go mod init hello")
	save(t, dir, "main.go", program)
	must(t, dir, strings.ReplaceAll(replaceCommand(t), "../gomx", root(t)))
	return dir
}

var replacePattern = regexp.MustCompile(`(?m)^    (go mod edit -replace .*)$`)

func replaceCommand(t *testing.T) string {
	t.Helper()
	m := replacePattern.FindStringSubmatch(text(t, "README.md"))
	if m == nil {
		t.Fatal("README.md does not say how to replace the module")
	}
	return m[1]
}

// words has single spaces between the words of a text.
func words(s string) string { return strings.Join(strings.Fields(s), " ") }
