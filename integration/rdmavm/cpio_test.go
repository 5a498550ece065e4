package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gomx/integration/rdmavm/internal/plan"
)

// unpacked is an entry as a reader sees it.
type unpacked struct {
	entry
	contents string
}

// readArchive reads what archive writes, strictly.
func readArchive(t *testing.T, b []byte) (all []unpacked) {
	t.Helper()
	at := 0
	take := func(n int) string {
		if at+n > len(b) {
			t.Fatalf("the archive ends at %d, within %d bytes from %d", len(b), n, at)
		}
		at += n
		return string(b[at-n : at])
	}
	align := func() {
		for at%4 != 0 {
			if take(1) != "\x00" {
				t.Fatalf("padding at %d is not zero", at-1)
			}
		}
	}
	for {
		if magic := take(6); magic != "070701" {
			t.Fatalf("%q at %d", magic, at-6)
		}
		var fields [13]int64
		for i := range fields {
			if _, err := fmt.Sscanf(take(8), "%08X", &fields[i]); err != nil {
				t.Fatal(err)
			}
		}
		name := take(int(fields[11]))
		if !strings.HasSuffix(name, "\x00") {
			t.Fatalf("the name %q has no end", name)
		}
		align()
		u := unpacked{entry: entry{name: name[:len(name)-1], mode: int(fields[1]), size: fields[6], major: int(fields[9]), minor: int(fields[10])}}
		u.contents = take(int(u.size))
		align()
		if u.name == "TRAILER!!!" {
			break
		}
		all = append(all, u)
	}
	if at != len(b) {
		t.Errorf("%d bytes after the end", len(b)-at)
	}
	return all
}

func TestArchive(t *testing.T) {
	var b bytes.Buffer
	a := archive{w: &b}
	want := []unpacked{
		{entry{name: "a", mode: modeFolder | 0o755}, ""},
		{entry{name: "a/console", mode: modeDevice | 0o600, major: 5, minor: 1}, ""},
	}
	for size := range 9 { // all paddings, of names and of contents
		text := strings.Repeat("x", size)
		want = append(want, unpacked{entry{name: "a/" + strings.Repeat("n", size+1), mode: modeFile | 0o644, size: int64(size)}, text})
	}
	for _, u := range want {
		a.add(u.entry, strings.NewReader(u.contents))
	}
	if err := a.finish(); err != nil {
		t.Fatal(err)
	}
	got := readArchive(t, b.Bytes())
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v\nwant\n%v", got, want)
	}
}

func TestArchiveOfOtherSize(t *testing.T) {
	for _, contents := range []string{"", "123456"} {
		a := archive{w: io.Discard}
		a.add(entry{name: "a", mode: modeFile, size: 5}, strings.NewReader(contents))
		if a.finish() == nil {
			t.Errorf("%d bytes pass for 5", len(contents))
		}
	}
}

type broken struct{ after int }

var errBroken = errors.New("no space")

func (b *broken) Write(p []byte) (int, error) {
	if b.after -= len(p); b.after < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func TestArchiveKeepsTheFirstError(t *testing.T) {
	for after := range 120 {
		a := archive{w: &broken{after}}
		a.add(entry{name: "abc", mode: modeFile, size: 2}, strings.NewReader("12"))
		if err := a.finish(); !errors.Is(err, errBroken) {
			t.Errorf("%v after %d bytes", err, after)
		}
	}
}

// Others read the archives too, where there is such a program.
func TestArchiveForCpio(t *testing.T) {
	if _, err := exec.LookPath("cpio"); err != nil {
		t.Skip("no cpio here:", err)
	}
	var b bytes.Buffer
	i := image{archive: archive{w: &b}, made: map[string]bool{".": true}}
	i.text("etc/deep/file", 0o600, "text")
	i.link("bin/sh", "dash")
	if err := i.finish(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("cpio", "-idm", "--quiet")
	cmd.Dir, cmd.Stdin = t.TempDir(), &b
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(cmd.Dir, "etc/deep/file"))
	target, linkErr := os.Readlink(filepath.Join(cmd.Dir, "bin/sh"))
	if err != nil || linkErr != nil || string(text) != "text" || target != "dash" {
		t.Error(err, linkErr, string(text), target)
	}
}

// fakeRoot is a root with all tools, none of which is a program.
func fakeRoot(t *testing.T) roots {
	t.Helper()
	root := t.TempDir()
	write := func(name string) {
		file := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("#!"+name), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range toolPrograms {
		write("usr/bin/" + name)
	}
	write("usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav1.so")
	write("usr/lib/x86_64-linux-gnu/libibverbs.so.1")
	write("package/testdata/deep/a.txt")
	write("guest")
	return roots{root}
}

func TestImage(t *testing.T) {
	r := fakeRoot(t)
	tree := fakeTree(map[string]string{})
	for _, name := range modules {
		tree.files[name] = name + ".ko"
	}
	tree.load = func(file string) ([]byte, error) { return fakeModule(""), nil }
	c := contents{tools: r, kernel: tree, programs: []string{filepath.Join(r[0], "guest")}, tests: []testBinary{
		{name: "gomx/some/package", file: filepath.Join(r[0], "guest"), folder: filepath.Join(r[0], "package")},
	}}
	file := filepath.Join(t.TempDir(), "image")
	if err := writeImage(file, c, plan.Plan{Host: 1, Hosts: 2}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, u := range readArchive(t, b) {
		if _, twice := names[u.name]; twice {
			t.Errorf("%s is there twice", u.name)
		}
		for dir := filepath.Dir(u.name); dir != "."; dir = filepath.Dir(dir) {
			if _, made := names[dir]; !made {
				t.Errorf("%s comes before its folder %s", u.name, dir)
			}
		}
		names[u.name] = u.contents
	}
	for name, want := range map[string]string{
		"init": firstProcess, "bin/sh": "dash", "bin/on": "guest", "bin/rdma": "#!usr/bin/rdma", "dev/console": "",
		"packages/gomx/some/package/testdata/deep/a.txt": "#!package/testdata/deep/a.txt",
		"packages/gomx/some/package/package.test":        "#!guest",
		"lib/x86_64-linux-gnu/libibverbs.so.1":           "#!usr/lib/x86_64-linux-gnu/libibverbs.so.1",
	} {
		if got, there := names[name]; !there || got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if !strings.Contains(names["plan.json"], `"/modules/rdma_rxe.ko"`) {
		t.Errorf("the plan does not load rdma_rxe: %s", names["plan.json"])
	}
	if err := os.Remove(filepath.Join(r[0], "usr/bin/rdma")); err != nil {
		t.Fatal(err)
	}
	if err := writeImage(file, c, plan.Plan{}); err == nil || !strings.Contains(err.Error(), "rdma is neither") {
		t.Errorf("%v, though there is no rdma", err)
	}
}
