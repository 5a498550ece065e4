package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// kernelPackage needs another one, whose name has the version.
const kernelPackage = "linux-image-amd64"

const qemu = "qemu-system-x86_64"

// toolPackages have the programs and libraries of the machine.
var toolPackages = []string{"busybox-static", "dash", "ibverbs-providers", "ibverbs-utils", "iproute2", "libibverbs1", "perftest"}

// errLacking says that this machine lacks something.
var errLacking = errors.New("this machine can't run the virtual one")

// machinePackages are those that every machine is made of.
func machinePackages() []string {
	all := append(slices.Clone(toolPackages), kernelPackage)
	if _, err := exec.LookPath(qemu); err != nil {
		all = append(all, "qemu-system-x86")
	}
	return all
}

// fetch returns a root with the wanted packages unpacked, from the cache if they are
// there. Commands that run at once do no harm to each other.
func fetch(ctx context.Context, cache string, wanted []string) (string, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", fmt.Errorf("%w: it is %s/%s, and the packages are for linux/amd64", errLacking, runtime.GOOS, runtime.GOARCH)
	}
	root := filepath.Join(cache, cacheName(wanted))
	if _, err := os.Stat(root); err == nil {
		return root, nil
	}
	for _, tool := range []string{"apt-get", "apt-cache", "dpkg"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", fmt.Errorf("%w: fetching packages takes apt and dpkg: %w", errLacking, err)
		}
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("%w: %w", errLacking, err)
	}
	work, err := os.MkdirTemp(cache, "unfinished-")
	if err != nil {
		return "", fmt.Errorf("%w: %w", errLacking, err)
	}
	defer os.RemoveAll(work)
	slog.Info("fetching packages, which happens once", "into", root)
	err = download(ctx, work, wanted)
	if err != nil && os.Geteuid() == 0 && ctx.Err() == nil {
		slog.Info("renewing the lists of packages", "because", err)
		if _, err := apt(ctx, work, "apt-get", "update"); err != nil {
			return "", fmt.Errorf("%w: %w", errLacking, err)
		}
		err = download(ctx, work, wanted)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w\nIf the lists of packages are old, root can renew them: apt-get update", errLacking, err)
	}
	return root, unpack(ctx, work, root)
}

// cacheName is a name that changes with the packages.
func cacheName(packages []string) string {
	packages = slices.Sorted(slices.Values(packages))
	return fmt.Sprintf("packages-%x", sha256.Sum256([]byte(strings.Join(packages, " "))))[:25]
}

// download fetches the packages, and those that they need and this machine has not.
// Of the kernel it takes nothing but the package itself: the rest is for those who run it.
func download(ctx context.Context, dir string, wanted []string) error {
	wanted = slices.Clone(wanted)
	var kernels []string
	if i := slices.Index(wanted, kernelPackage); i >= 0 {
		wanted = slices.Delete(wanted, i, i+1)
		out, err := apt(ctx, dir, "apt-cache", "depends", kernelPackage)
		if err != nil {
			return err
		}
		kernel, err := versionedKernel(out)
		if err != nil {
			return err
		}
		kernels = append(kernels, kernel)
	}
	out, err := apt(ctx, dir, "apt-get", append([]string{"--simulate", "--no-install-recommends", "install"}, wanted...)...)
	if err != nil {
		return err
	}
	all := slices.Concat(wanted, additions(out), kernels)
	slices.Sort(all)
	_, err = apt(ctx, dir, "apt-get", append([]string{"download"}, slices.Compact(all)...)...)
	return err
}

var (
	dependency = regexp.MustCompile(`(?m)^\s*Depends: (linux-image-\d\S*)$`)
	addition   = regexp.MustCompile(`(?m)^Inst (\S+) `)
)

// versionedKernel finds the kernel's package in what apt-cache says of the one
// that needs it.
func versionedKernel(depends []byte) (string, error) {
	m := dependency.FindSubmatch(depends)
	if m == nil {
		return "", fmt.Errorf("the lists of packages have no kernel for %s, so this may be no Debian", kernelPackage)
	}
	return string(m[1]), nil
}

// additions returns the packages that a simulated installation would install.
func additions(simulated []byte) (names []string) {
	for _, m := range addition.FindAllSubmatch(simulated, -1) {
		names = append(names, string(m[1]))
	}
	return names
}

// unpack unpacks the packages of a folder, and moves the whole to root at once.
func unpack(ctx context.Context, dir, root string) error {
	packages, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return err
	}
	unpacked := filepath.Join(dir, "root")
	for _, p := range packages {
		if _, err := apt(ctx, dir, "dpkg", "--extract", p, unpacked); err != nil {
			return err
		}
	}
	err = os.Rename(unpacked, root)
	if _, there := os.Stat(root); there == nil { // perhaps by another command
		return nil
	}
	return err
}

// apt runs a command whose output is read by this program, not by people.
func apt(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(complaints.Bytes()))
	}
	return out, nil
}
