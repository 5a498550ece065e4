//go:build linux && cgo

package verbs_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestABI compares abi.h with the real headers, where they are installed.
func TestABI(t *testing.T) {
	if out, err := compile("-include", "infiniband/verbs.h", "/dev/null"); err != nil {
		t.Skipf("needs a C compiler and the headers of libibverbs (package libibverbs-dev): %v\n%s", err, out)
	}
	if out, err := compile("testdata/abi_check.c"); err != nil {
		t.Errorf("abi.h differs from infiniband/verbs.h:\n%s", out)
	}
	out, err := compile("-DLIE=1", "testdata/abi_check.c")
	if err == nil || !strings.Contains(out, "another size") || !strings.Contains(out, "elsewhere") ||
		!strings.Contains(out, "another number") {
		t.Errorf("the comparison does not notice what is wrong: %v\n%s", err, out)
	}
}

func compile(args ...string) (string, error) {
	out, err := exec.Command("cc", append([]string{"-fsyntax-only", "-x", "c"}, args...)...).CombinedOutput()
	return string(out), err
}
