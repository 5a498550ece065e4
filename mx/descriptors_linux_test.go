package mx_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gomx/mx"
)

// TestOpenWithoutDescriptors: a process that can open no more files, or only some, hears just that and the remedy, whatever transports
// it asks for, and gets no endpoint that lacks one for it.
func TestOpenWithoutDescriptors(t *testing.T) {
	initialize(t)
	for _, names := range [][]string{nil, {"shm"}, {"tcp"}, {"shm", "tcp"}} {
		var params []mx.Param
		if names != nil {
			params = append(params, mx.WithTransports(names...))
		}
		all := transportsOf(t, nil, params)
		for left := range uint64(100) {
			got := transportsOf(t, &left, params)
			if got != nil && !slices.Equal(got, all) {
				t.Errorf("%v, with %d descriptors: only %v", names, left, got)
			}
			if got != nil {
				break
			}
		}
	}
}

// transportsOf returns those of an endpoint that is opened with only some descriptors left, or nil if it can't be.
func transportsOf(t *testing.T, left *uint64, params []mx.Param) []string {
	t.Helper()
	var ep *mx.Endpoint
	var err error
	withDescriptors(t, left, func() { ep, err = mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 1, params...) })
	if err != nil {
		refused(t, err, mx.ErrNoResources, "open endpoint: out of resources", "no file descriptor is left", "ulimit -n")
		if strings.Contains(err.Error(), "not supported") {
			t.Error(err)
		}
		return nil
	}
	defer ep.Close()
	return ep.TransportNames()
}

// withDescriptors calls f with only some descriptors left, or with all.
func withDescriptors(t *testing.T, left *uint64, f func()) {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if left != nil {
		next, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		few := unix.Rlimit{Cur: uint64(next.Fd()) + *left, Max: limit.Max}
		_ = next.Close()
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
			t.Fatal(err)
		}
	}
	f()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
}

// TestAddressesWithoutDescriptors: what can't be opened since no descriptor is left says so, and what to do.
func TestAddressesWithoutDescriptors(t *testing.T) {
	initialize(t)
	path := filepath.Join(t.TempDir(), "table")
	if err := mx.WriteAddresses(path, nil); err != nil {
		t.Fatal(err)
	}
	var write, read error
	withDescriptors(t, new(uint64), func() {
		write = mx.WriteAddresses(path, nil)
		_, read = mx.ReadAddresses(path)
	})
	refused(t, write, mx.ErrNoResources, "write addresses", "ulimit -n")
	refused(t, read, mx.ErrNoResources, "read addresses", "ulimit -n")
}
