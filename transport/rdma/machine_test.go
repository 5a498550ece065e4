//go:build linux && cgo

package rdma

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gomx/transport"
)

// wantReason is set in the environment of processes that these tests start: what
// Available must say.
const wantReason = "RDMA_TEST_WANT_REASON"

// requireVM skips where files of the system must not be touched.
func requireVM(t *testing.T) {
	t.Helper()
	if os.Getenv("GOMX_RDMAVM_HOST") == "" {
		t.Skip("needs the machine of integration/rdmavm: elsewhere it would disturb others")
	}
}

// TestReason is what the processes run.
func TestReason(t *testing.T) {
	want := os.Getenv(wantReason)
	if want == "" {
		t.Skip("runs in processes that other tests start")
	}
	err := Available()
	t.Log(err)
	if !errors.Is(err, transport.ErrUnsupported) || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want ErrUnsupported and %q", err, want)
	}
}

// isReason asks another process for the reason. Uid is that of its user.
func isReason(t *testing.T, uid uint32, want string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestReason$", "-test.v")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), wantReason+"="+want)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestReason") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestNoPermission(t *testing.T) {
	requireVM(t)
	files, _ := filepath.Glob("/dev/infiniband/uverbs*")
	for _, f := range files {
		before, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(f, before.Mode().Perm()) })
		if err := os.Chmod(f, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const nobody = 65534
	isReason(t, nobody, "rxe0/1: rxe0: open /dev/infiniband/uverbs0: permission denied")
}

func TestNoProvider(t *testing.T) {
	requireVM(t)
	const drivers, away = "/etc/libibverbs.d", "/etc/libibverbs.d.away"
	if err := os.Rename(drivers, away); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Rename(away, drivers) })
	isReason(t, 0, "rxe0/1: libibverbs has no provider for it")
}

func TestPortsDown(t *testing.T) {
	requireVM(t)
	ports, err := Ports()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ports {
		set := func(state string) {
			if out, err := exec.Command("ip", "link", "set", p.Interface, state).CombinedOutput(); err != nil {
				t.Errorf("ip link: %v\n%s", err, out)
			}
		}
		set("down")
		t.Cleanup(func() { set("up") })
	}
	isReason(t, 0, "rxe0/1: the port is not active, but DOWN")
}
