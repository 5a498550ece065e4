package trace

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecordedHolders reads traces of jobs of integration/top that ran on two cores beside two programs which computed all the time. In the
// slow ones rank 2 slept for 2 ms before each of 40 steps; in the quick ones nobody did.
func TestRecordedHolders(t *testing.T) {
	files, err := filepath.Glob("testdata/*.tar.gz")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		folder := t.TempDir()
		unpack(t, file, folder)
		recorded, err := Read(folder)
		if err != nil {
			t.Fatal(err)
		}
		all, err := Merge(recorded)
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		if strings.HasPrefix(filepath.Base(file), "slow") {
			want = "rank 2"
		}
		if got := all.Report().Path.Holder; got != want {
			t.Errorf("%s: %q holds up the others, want %q", file, got, want)
		}
	}
}

// unpack writes the files of an archive into a folder.
func unpack(t *testing.T, archive, folder string) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(r)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, filepath.Base(h.Name)), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
