//go:build linux && cgo

package verbs_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"gomx/transport/rdma/internal/verbs"
)

// asNobody is set in the environment of the process that TestMemoryLimit starts.
const asNobody = "VERBS_TEST_AS_NOBODY"

// TestMemoryLimit registers more than the system allows, in a process of a user for
// whom the limit holds.
func TestMemoryLimit(t *testing.T) {
	if os.Getenv(asNobody) != "" {
		exceedLimit(t)
		return
	}
	openDevice(t)
	if os.Getuid() != 0 {
		t.Skip("needs root, to become a user without privileges")
	}
	const nobody = 65534
	self, err := os.Executable()
	check(t, err)
	cmd := exec.Command(self, "-test.run=^TestMemoryLimit$", "-test.v")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), asNobody+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestMemoryLimit") {
		t.Errorf("%v\n%s", err, out)
	}
}

func exceedLimit(t *testing.T) {
	const limit, first, second = 256 << 10, 64 << 10, 200 << 10
	check(t, unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: limit, Max: limit}))
	b := openDevice(t)
	b.register(make([]byte, first), 0)
	_, err := b.domain.Register(make([]byte, second), verbs.LocalWrite)
	var e *verbs.MemoryLimitError
	if !errors.As(err, &e) || !errors.Is(err, unix.ENOMEM) {
		t.Fatalf("%d bytes more than %d registered: %v", second, first, err)
	}
	if e.Limit != limit || e.Need < second || e.Locked < first || e.Need+e.Locked <= limit {
		t.Errorf("it says %+v", e)
	}
	if want := fmt.Sprintf("ulimit -l %d ", (e.Need+e.Locked)/1024); !strings.Contains(err.Error(), want) {
		t.Errorf("%q does not say %q", err, want)
	}
	b.register(make([]byte, limit/4), 0) // which still fits

	check(t, unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{}))
	if _, err := b.domain.Register(make([]byte, 1), 0); !errors.As(err, &e) || !errors.Is(err, unix.EPERM) || e.Limit != 0 {
		t.Errorf("where nothing may be locked: %v", err)
	}
}
