package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"gomx/internal/testlength"
)

// fakeMPI adds to a fake root what the MPIs consist of, and a plugin that wants a library
// which is nowhere.
func fakeMPI(t *testing.T, root string) {
	t.Helper()
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"etc/openmpi/settings.conf": "x", "usr/share/openmpi/help.txt": "x",
		"usr/lib/x86_64-linux-gnu/ucx/libuct_ib.so.0":                    "x",
		"usr/lib/x86_64-linux-gnu/pmix2/lib/pmix/p.so":                   "x",
		"usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3/mca_pml_ucx.so":   "x",
		"usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3/mca_plm_slurm.so": string(self),
	}
	for _, name := range mpiPrograms {
		files["usr/bin/"+name] = "#!"
	}
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestImageWithMPI(t *testing.T) {
	r := fakeRoot(t)
	fakeMPI(t, r[0])
	var b bytes.Buffer
	i := image{archive: archive{w: &b}, made: map[string]bool{".": true}}
	linked := i.mpi(r)
	if err := i.finish(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, u := range readArchive(t, b.Bytes()) {
		names = append(names, u.name)
	}
	for _, want := range []string{
		"usr/bin/mpirun.openmpi", "usr/bin/mpirun.mpich", "usr/bin/hydra_pmi_proxy",
		"lib/x86_64-linux-gnu/ucx/libuct_ib.so.0", "lib/x86_64-linux-gnu/pmix2/lib/pmix/p.so",
		"lib/x86_64-linux-gnu/openmpi/lib/openmpi3/mca_pml_ucx.so",
		"etc/openmpi/settings.conf", "usr/share/openmpi/help.txt",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not in %v", want, names)
		}
	}
	if want := len(mpiPrograms) + len(mpiPlugins); len(linked) < want {
		t.Errorf("%d files may need libraries, want %d: %v", len(linked), want, linked)
	}
	if libraries, err := needed(os.Args[0]); err == nil && len(libraries) > 0 &&
		slices.Contains(names, "lib/x86_64-linux-gnu/openmpi/lib/openmpi3/mca_plm_slurm.so") {
		t.Error("a plugin is there whose libraries are not")
	}
	if err := os.Remove(filepath.Join(r[0], "usr/lib/x86_64-linux-gnu/ucx/libuct_ib.so.0")); err != nil {
		t.Fatal(err)
	}
	i = image{archive: archive{w: &b}, made: map[string]bool{".": true}}
	if i.mpi(r); i.finish() == nil {
		t.Error("UCX is not there, and nobody complains")
	}
}

// The MPIs come without a kernel.
func TestFetchMPI(t *testing.T) {
	needAMD64(t)
	fakeTools(t, map[string]string{
		"apt-cache": "exit 9",
		"apt-get": `case "$1" in --simulate) echo "Inst libextra (1 x)";; download) shift
			for p; do echo $p > $p.deb; done;; *) exit 9;; esac`,
		"dpkg": `/bin/mkdir -p $3/all && /bin/cp $2 $3/all`,
	})
	root, err := fetch(t.Context(), t.TempDir(), mpiPackages)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append([]string{"libextra"}, mpiPackages...) {
		if _, err := os.Stat(filepath.Join(root, "all", name+".deb")); err != nil {
			t.Error(err)
		}
	}
}

// TestRanks compiles for the MPIs of this machine.
func TestRanks(t *testing.T) {
	testlength.Long(t)
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc here:", err)
	}
	if _, err := (builder{dir: t.TempDir()}).ranks(t.Context(), roots{t.TempDir()}); err == nil {
		t.Error("compiled without the headers of an MPI")
	}
	b := builder{dir: t.TempDir()}
	files, err := b.ranks(t.Context(), roots{"/"})
	if err != nil {
		t.Skip("no MPIs where Debian has them:", err)
	}
	if len(files) != len(ranks)*len(rankPrograms) || filepath.Base(files[0]) != rankPrograms[0]+ranks[0].ending {
		t.Error(files)
	}
	for i, file := range files {
		library := ranks[i/len(rankPrograms)].library
		if names, err := needed(file); err != nil || !slices.Contains(names, library) {
			t.Errorf("%s needs %v, %v, want %s", file, names, err, library)
		}
	}
}

func TestWithoutCompiler(t *testing.T) {
	for value, lacks := range map[string]bool{"0": true, "1": false} {
		t.Setenv("CGO_ENABLED", value)
		if err := (builder{}).lacks(t.Context()); (err != nil) != lacks {
			t.Errorf("CGO_ENABLED=%s: %v", value, err)
		}
	}
}
