//go:build linux && cgo

package verbs_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"gomx/transport/rdma/internal/verbs"
)

// withLimit is set in the environment of the process that TestMemoryLimitIsKnown
// starts.
const withLimit = "VERBS_TEST_WITH_LIMIT"

func TestMemoryLimitIsKnown(t *testing.T) {
	const limit = 60 << 10
	if os.Getenv(withLimit) != "" {
		check(t, unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: limit, Max: limit}))
		if n, ok := verbs.MemoryLimit(); n != limit || !ok {
			t.Errorf("%d, %v; want %d", n, ok, limit)
		}
		return
	}
	if os.Getuid() != 0 {
		t.Skip("needs root, to become a user without privileges")
	}
	const nobody = 65534
	self, err := os.Executable()
	check(t, err)
	cmd := exec.Command(self, "-test.run=^TestMemoryLimitIsKnown$", "-test.v")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), withLimit+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, os.ErrPermission) {
		t.Skip("needs a folder for test binaries that all users can read: ", err)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: TestMemoryLimitIsKnown") {
		t.Errorf("%v\n%s", err, out)
	}
}
