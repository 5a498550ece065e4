package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gomx/cmd/internal/tooltest"
	"gomx/mpi"
)

// job runs a job of four ranks, and returns the folder of its traces, and its files.
func job(t *testing.T) (folder string, files []string) {
	t.Helper()
	folder = t.TempDir()
	t.Setenv("MX_TRACE", folder)
	t.Setenv("MX_TRACE_BYTES", "64K")
	err := mpi.Run(4, func(world *mpi.Comm) error { return world.Barrier() })
	if err != nil {
		t.Fatal(err)
	}
	if files, err = filepath.Glob(filepath.Join(folder, "*.mxtrace")); err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	return folder, files
}

func TestReport(t *testing.T) {
	folder, files := job(t)
	chrome := filepath.Join(t.TempDir(), "job.json")
	out, complaints, status := tooltest.Run(t, "-o", chrome, folder)
	if status != 0 || complaints != "" {
		t.Fatalf("status %d:\n%s", status, complaints)
	}
	for _, want := range []string{"4 traces, ", "rank 3 ", "critical path: "} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q:\n%s", want, out)
		}
	}
	file, err := os.ReadFile(chrome)
	if err != nil || !json.Valid(file) || !strings.Contains(string(file), `"barrier, `) {
		t.Errorf("the file for Perfetto, of %d bytes, has no barrier: %v", len(file), err)
	}
	if out, _, status = tooltest.Run(t, "-o", "-", folder); status != 0 || out != string(file) {
		t.Errorf("-o - prints something else: status %d", status)
	}
	if out, _, status = tooltest.Run(t, "-json", folder); status != 0 || !json.Valid([]byte(out)) {
		t.Errorf("-json: status %d:\n%s", status, out)
	}
	out, complaints, status = tooltest.Run(t, files[:2]...)
	if status != 2 || !strings.Contains(complaints, "of 4 ranks there is no trace of rank ") || !strings.Contains(out, "2 traces, ") {
		t.Errorf("of two ranks of four: status %d:\n%s%s", status, out, complaints)
	}
}

func TestRefusals(t *testing.T) {
	folder, files := job(t)
	_, others := job(t)
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no trace"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		says string
		args []string
	}{
		{"no trace is named", nil},
		{"-json and -o - want the standard output both", []string{"-json", "-o", "-", folder}},
		{"flag provided but not defined: -x", []string{"-x"}},
		{`invalid value "-1" for flag -n: want a whole number that is not negative`, []string{"-n", "-1", folder}},
		{"no-such-folder: file does not exist", []string{"no-such-folder"}},
		{"there is no trace in that folder", []string{t.TempDir()}},
		{"text: it is not a trace of gomx", []string{text}},
		{"traces of different jobs: ", []string{files[0], others[1]}},
		{"two files of one trace: ", []string{files[0], files[0]}},
		{"is a directory", []string{"-o", t.TempDir(), folder}},
		{"that is a trace, and stays", []string{"-o", files[2], folder}},
		{"that is a trace, and stays", []string{"-o", others[0], folder}},
	} {
		if out, complaints, status := tooltest.Run(t, c.args...); status != 1 || out != "" || !strings.Contains(complaints, c.says) {
			t.Errorf("%q: status %d, want %q:\n%s%s", c.args, status, c.says, out, complaints)
		}
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.mxtrace")
	if err := os.WriteFile(cut, whole[:4096+64<<10], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, complaints, status := tooltest.Run(t, cut); status != 2 || !strings.Contains(complaints, "cut.mxtrace was cut: ") {
		t.Errorf("of a file that was cut: status %d:\n%s", status, complaints)
	}
}
