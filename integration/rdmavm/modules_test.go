package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakeModule is an object file with nothing but what a module says of itself.
func fakeModule(needs string) []byte {
	const names = "\x00.modinfo\x00.shstrtab\x00"
	info := "license=GPL\x00depends=" + needs + "\x00name=fake\x00"
	const head = 64
	table := uint64(head + len(info) + len(names))
	header := elf.Header64{
		Type: uint16(elf.ET_REL), Machine: uint16(elf.EM_X86_64), Version: 1,
		Shoff: table, Ehsize: head, Shentsize: 64, Shnum: 3, Shstrndx: 2,
	}
	copy(header.Ident[:], elf.ELFMAG)
	header.Ident[elf.EI_CLASS], header.Ident[elf.EI_DATA], header.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	sections := []elf.Section64{
		{},
		{Name: 1, Type: uint32(elf.SHT_PROGBITS), Off: head, Size: uint64(len(info)), Addralign: 1},
		{Name: 10, Type: uint32(elf.SHT_STRTAB), Off: uint64(head + len(info)), Size: uint64(len(names)), Addralign: 1},
	}
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, header) // writing into memory does not fail
	b.WriteString(info + names)
	_ = binary.Write(&b, binary.LittleEndian, sections)
	return b.Bytes()
}

// fakeTree has modules by name, with what they need.
func fakeTree(needs map[string]string) *moduleTree {
	t := &moduleTree{files: map[string]string{}, builtin: map[string]bool{"udp": true}}
	for name := range needs {
		t.files[name] = name + ".ko"
	}
	t.load = func(file string) ([]byte, error) { return fakeModule(needs[moduleName(file)]), nil }
	return t
}

func TestModulesInOrder(t *testing.T) {
	tree := fakeTree(map[string]string{
		"rdma_rxe": "ib-core,ib-uverbs,udp_tunnel,udp", "ib_uverbs": "ib_core", "ib_core": "", "udp_tunnel": "", "dummy": "",
		"a": "b", "b": "a", "lacks": "nowhere",
	})
	got, err := tree.order("dummy", "rdma_rxe", "udp", "ib_core")
	want := []string{"dummy.ko", "ib_core.ko", "ib_uverbs.ko", "udp_tunnel.ko", "rdma_rxe.ko"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for name, complaint := range map[string]string{"a": "needs itself", "lacks": "no module nowhere, for lacks", "other": "no module other"} {
		if _, err := tree.order(name); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%s: %v, want %q", name, err, complaint)
		}
	}
}

func TestModulesOfAFolder(t *testing.T) {
	dir := t.TempDir()
	for name, contents := range map[string][]byte{
		"modules.builtin":            []byte("kernel/net/ipv4/udp-tunnel4.ko\nkernel/lib/crc32.ko\n"),
		"kernel/drivers/ib-core.ko":  fakeModule("udp_tunnel4"),
		"kernel/drivers/rdma_rxe.ko": fakeModule("ib-core"),
		"kernel/drivers/broken.ko":   []byte("no module"),
		"kernel/drivers/odd.ko.lz9":  []byte("no module"),
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, contents, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := openModules(dir, "busybox")
	if err != nil {
		t.Fatal(err)
	}
	got, err := tree.order("crc32", "rdma_rxe")
	want := []string{filepath.Join(dir, "kernel/drivers/ib-core.ko"), filepath.Join(dir, "kernel/drivers/rdma_rxe.ko")}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for _, name := range []string{"broken", "odd"} {
		if _, err := tree.order(name); err == nil || !strings.Contains(err.Error(), name+".ko") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := openModules(filepath.Join(dir, "kernel"), "busybox"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestNeeds(t *testing.T) {
	for info, want := range map[string][]string{
		"":                                  nil,
		"license=GPL\x00depends=\x00":       nil,
		"depends=a":                         {"a"},
		"depends=a,b-c\x00":                 {"a", "b_c"},
		"softdepends=x\x00depends=y\x00a=b": {"y"},
	} {
		if got := parseNeeds([]byte(info)); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", info, got, want)
		}
	}
}
