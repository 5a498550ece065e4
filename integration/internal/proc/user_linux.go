package proc

import (
	"os"
	"syscall"
	"testing"
)

// nobody is a user whom limits hold for, and who owns nothing.
const nobody = 65534

// AsNobody has a child run as a user without rights. The test is skipped if it is not root's.
func AsNobody(t testing.TB, o Options) Options {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	o.Copy, o.Attr = ForAll(t), &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return o
}

// ForAll returns a folder that other users can read, which is gone after the test.
func ForAll(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "other-user-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
