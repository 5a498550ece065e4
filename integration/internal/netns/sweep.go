package netns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// prefix begins the names of all our namespaces; a process id follows.
const prefix = "gomx-test-"

// The folders of iproute2: named namespaces, and files that stand for those of
// /etc inside of one.
const (
	named         = "/run/netns"
	configuration = "/etc/netns"
)

func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make hosts out of network namespaces")
	}
	for _, tool := range []string{"ip", "unshare", "hostname", "sh"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs the commands of iproute2, util-linux and hostname: %v", err)
		}
	}
}

// sweep removes what runs that crashed have left.
func sweep(t testing.TB) {
	t.Helper()
	for _, folder := range []string{named, configuration} {
		list, err := os.ReadDir(folder)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Skip("can't list the network namespaces of this machine:", err)
		}
		for _, entry := range list {
			if pid, ours := ownerOf(entry.Name()); ours && !alive(pid) {
				remove(t, entry.Name())
			}
		}
	}
}

// ownerOf returns the process id in a name of ours.
func ownerOf(name string) (pid int, ours bool) {
	rest, ours := strings.CutPrefix(name, prefix)
	if !ours {
		return 0, false
	}
	_, err := fmt.Sscanf(rest, "%d-", &pid)
	return pid, err == nil && pid > 0
}

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// remove deletes a namespace and its files, if nobody else has done so meanwhile.
// Interfaces and their far ends go with it as soon as no process is left inside.
func remove(t testing.TB, namespace string) {
	t.Helper()
	file := filepath.Join(named, namespace)
	if exists(file) {
		if err := ip("netns", "delete", namespace); err != nil && exists(file) {
			t.Error("a namespace stays behind:", err)
		}
	}
	if err := os.RemoveAll(filepath.Join(configuration, namespace)); err != nil {
		t.Error(err)
	}
	_ = os.Remove(configuration) // if nothing else is in it
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}
