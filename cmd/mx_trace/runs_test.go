package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gomx/cmd/internal/tooltest"
	"gomx/mx"
)

// TestSeveralRuns says that traces without a job are of programs that had nothing to do with each other, and refuses a copy.
func TestSeveralRuns(t *testing.T) {
	folder := t.TempDir()
	plain(t, folder)
	if out, complaints, status := tooltest.Run(t, folder); status != 0 || complaints != "" || !strings.Contains(out, "2 traces, ") {
		t.Fatalf("status %d:\n%s%s", status, complaints, out)
	}
	first, err := filepath.Glob(filepath.Join(folder, "*.mxtrace"))
	if err != nil || len(first) != 2 {
		t.Fatal(first, err)
	}
	copied := filepath.Join(t.TempDir(), "copy.mxtrace")
	rewrite(t, first[0], copied, "", "")
	if out, complaints, status := tooltest.Run(t, folder, copied); status != 1 || out != "" || !strings.Contains(complaints, "copy.mxtrace are both of endpoint ") {
		t.Errorf("with a copy: status %d:\n%s%s", status, complaints, out)
	}
	later := t.TempDir()
	plain(t, later)
	second, err := filepath.Glob(filepath.Join(later, "*.mxtrace"))
	if err != nil || len(second) != 2 {
		t.Fatal(second, err)
	}
	for _, path := range second { // as if of another process
		rewrite(t, path, path, fmt.Sprintf(`"pid":%d`, os.Getpid()), `"pid":`+strings.Repeat("1", len(strconv.Itoa(os.Getpid()))))
	}
	out, complaints, status := tooltest.Run(t, folder, later)
	if status != 2 || !strings.Contains(out, "4 traces, ") || !strings.Contains(complaints, "2 groups of endpoints that have exchanged nothing") ||
		!strings.Contains(complaints, strings.Join(first, ", ")) || !strings.Contains(complaints, strings.Join(second, ", ")) {
		t.Errorf("of two runs: status %d:\n%s%s", status, complaints, out)
	}
	if out, _, status := tooltest.Run(t, "-json", folder, later); status != 2 || !strings.Contains(out, `"files_apart": [`) {
		t.Errorf("-json: status %d:\n%s", status, out)
	}
}

// plain has two endpoints without a job exchange a message, and leave their traces.
func plain(t *testing.T, folder string) {
	t.Helper()
	err := mx.Init()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mx.Finalize() }()
	var ends [2]*mx.Endpoint
	for i := range ends {
		if ends[i], err = mx.OpenEndpoint(0, mx.AnyEndpoint, 7, mx.WithTransports("mem"), mx.WithTrace(folder)); err != nil {
			t.Fatal(err)
		}
	}
	nic, id, err := mx.DecomposeEndpointAddr(ends[1].Addr())
	if err != nil {
		t.Fatal(err)
	}
	to, err := ends[0].Connect(nic, id, 7, mx.Infinite)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ends[1].Irecv(make([]byte, 8), 1, mx.MatchMaskNone, nil)
	if err == nil {
		_, err = ends[0].Isend(make([]byte, 8), to, 1, nil)
	}
	if err == nil {
		_, _, err = ends[1].Wait(r, mx.Infinite)
	}
	if err = errors.Join(err, ends[0].Close(), ends[1].Close()); err != nil {
		t.Fatal(err)
	}
}

// rewrite copies a file, and replaces what is in it.
func rewrite(t *testing.T, from, to, old, by string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, bytes.Replace(b, []byte(old), []byte(by), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
