package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestKernelOfThisVersion(t *testing.T) {
	const said = "linux-image-amd64\n  Depends: linux-base\n  Depends: linux-image-6.1.0-40-amd64\n  Recommends: firmware\n"
	if got, err := versionedKernel([]byte(said)); err != nil || got != "linux-image-6.1.0-40-amd64" {
		t.Error(got, err)
	}
	if got, err := versionedKernel([]byte("linux-image-amd64\n")); err == nil {
		t.Error(got)
	}
}

func TestAdditions(t *testing.T) {
	const said = `Reading package lists...
The following NEW packages will be installed:
  libaio1 perftest
Remv busybox [1:1.35.0-4]
Inst libaio1 (0.3.113-4 Debian:12/oldstable [amd64])
Inst perftest (4.5+0.17-1 Debian:12/oldstable [amd64]) []
Conf libaio1 (0.3.113-4 Debian:12/oldstable [amd64])
`
	if got := additions([]byte(said)); !slices.Equal(got, []string{"libaio1", "perftest"}) {
		t.Error(got)
	}
}

func TestCacheName(t *testing.T) {
	list := []string{"b", "a"}
	if cacheName(list) != cacheName([]string{"a", "b"}) || cacheName(list) == cacheName([]string{"a"}) {
		t.Error("the name does not follow the set of packages")
	}
	if list[0] != "b" {
		t.Error("the caller's list has changed")
	}
}

// fakeTools puts scripts named as apt and dpkg into the path, alone.
func fakeTools(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

func TestFetch(t *testing.T) {
	needAMD64(t)
	cache := t.TempDir()
	fakeTools(t, map[string]string{
		"apt-cache": `echo "  Depends: linux-image-6.1.0-1-amd64"`,
		"apt-get": `case "$1" in --simulate) echo "Inst libextra (1 x)";; update) ;; download) shift
			for p; do echo $p > $p.deb; done;; *) exit 9;; esac`,
		"dpkg": `/bin/mkdir -p $3/all && /bin/cp $2 $3/all`,
	})
	root, err := fetch(t.Context(), cache, machinePackages())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append([]string{"libextra", "linux-image-6.1.0-1-amd64", "qemu-system-x86"}, toolPackages...) {
		if _, err := os.Stat(filepath.Join(root, "all", name+".deb")); err != nil {
			t.Error(err)
		}
	}
	if list, err := os.ReadDir(cache); err != nil || len(list) != 1 {
		t.Errorf("%d entries in the cache, %v, want 1", len(list), err)
	}
	fakeTools(t, nil) // from now on the cache must do
	if again, err := fetch(t.Context(), cache, machinePackages()); err != nil || again != root {
		t.Error(again, err)
	}
}

func TestFetchWithout(t *testing.T) {
	needAMD64(t)
	for complaint, scripts := range map[string]map[string]string{
		"takes apt and dpkg": nil,
		"no such list":       {"apt-get": "exit 0", "dpkg": "exit 0", "apt-cache": "echo no such list >&2; exit 100"},
		"may be no Debian":   {"apt-get": "exit 0", "dpkg": "exit 0", "apt-cache": "exit 0"},
		"download": {"dpkg": "exit 0", "apt-cache": `echo "  Depends: linux-image-6"`,
			"apt-get": `[ "$1" != download ] || exit 100`},
	} {
		fakeTools(t, scripts)
		cache := t.TempDir()
		_, err := fetch(t.Context(), cache, machinePackages())
		if !errors.Is(err, errLacking) || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%v, want %q", err, complaint)
		}
		if list, err := os.ReadDir(cache); err != nil || len(list) != 0 {
			t.Errorf("%q leaves %v, %v", complaint, list, err)
		}
	}
}

func needAMD64(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the packages are for linux/amd64")
	}
}

func TestLibraries(t *testing.T) {
	r := roots{t.TempDir(), "/"}
	shell, err := r.program("sh")
	if err != nil {
		t.Skip("no shell where Debian has it:", err)
	}
	names, err := needed(shell)
	if err != nil {
		t.Fatal(err)
	}
	list, err := r.libraries(shell)
	if err != nil {
		t.Skip("no libraries where Debian has them:", err)
	}
	for _, name := range names {
		if !slices.ContainsFunc(list, func(file string) bool { return filepath.Base(file) == name }) {
			t.Errorf("%s is missing in %v", name, list)
		}
	}
	if _, err := (roots{t.TempDir()}).libraries(shell); len(names) > 0 && err == nil {
		t.Error("found libraries where there are none")
	}
}
