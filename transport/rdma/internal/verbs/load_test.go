//go:build linux && cgo

package verbs_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gomx/transport/rdma/internal/verbs"
)

// wantLoad is set in the environment of the processes that TestNoLibrary starts: what
// the error must say.
const wantLoad = "VERBS_TEST_WANT_LOAD"

// TestNoLibrary: what stands in the place of the library is none, or another one.
func TestNoLibrary(t *testing.T) {
	if want := os.Getenv(wantLoad); want != "" {
		for range 2 {
			if err := verbs.Load(); !errors.Is(err, verbs.ErrNoLibrary) || !strings.Contains(err.Error(), want) {
				t.Errorf("error %q, want ErrNoLibrary and %q", err, want)
			}
		}
		return
	}
	text, other := t.TempDir(), t.TempDir()
	check(t, os.WriteFile(filepath.Join(text, "libibverbs.so.1"), []byte(strings.Repeat("no library\n", 1000)), 0o644))
	loadIn(t, text, "libibverbs.so.1")
	found, _ := filepath.Glob("/lib/*/libm.so.6")
	if len(found) == 0 {
		t.Skip("needs another library to put in its place, and knows only of libm.so.6")
	}
	check(t, os.Symlink(found[0], filepath.Join(other, "libibverbs.so.1")))
	loadIn(t, other, "IBVERBS_1.1")
}

func loadIn(t *testing.T, dir, want string) {
	t.Helper()
	self, err := os.Executable()
	check(t, err)
	cmd := exec.Command(self, "-test.run=^TestNoLibrary$", "-test.v")
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+dir, wantLoad+"="+want)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "--- PASS: TestNoLibrary") {
		t.Errorf("%v", err)
	}
}
