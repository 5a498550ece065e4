package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// modules are those that the machine needs by itself: the devices and the
// interfaces below them. crc32_generic is the checksum that rdma_rxe asks for by
// an alias, so no list of what it needs names it.
var modules = []string{
	"crc32_generic", "dummy", "veth", "bridge", "ib_core", "ib_uverbs", "rdma_ucm", "rdma_rxe", "virtio_pci", "virtio_net", "sch_netem",
}

// moduleTree is the modules of one kernel. Names have underscores only.
type moduleTree struct {
	files   map[string]string // by name
	builtin map[string]bool   // part of the kernel itself
	load    func(file string) ([]byte, error)
}

// openModules lists the modules below a folder lib/modules/VERSION. A package has
// no modules.dep, which is made on the machine that installs it; what a module
// needs, it says itself.
func openModules(dir, busybox string) (*moduleTree, error) {
	list, err := os.ReadFile(filepath.Join(dir, "modules.builtin"))
	if err != nil {
		return nil, err
	}
	t := &moduleTree{files: map[string]string{}, builtin: map[string]bool{}}
	for line := range strings.Lines(string(list)) {
		t.builtin[moduleName(strings.TrimSpace(line))] = true
	}
	t.load = func(file string) ([]byte, error) { return loadModule(file, busybox) }
	return t, filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(d.Name(), ".ko") {
			t.files[moduleName(file)] = file
		}
		return err
	})
}

// moduleName returns the name of the module in a file.
func moduleName(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".ko")
	return strings.ReplaceAll(name, "-", "_")
}

// order returns the files of the modules with these names and of all that they need,
// in an order in which they can be loaded.
func (t *moduleTree) order(names ...string) (files []string, err error) {
	state := map[string]int{} // 1 in work, 2 listed
	var visit func(name string) error
	visit = func(name string) error {
		file, there := t.files[name]
		switch {
		case t.builtin[name] || state[name] == 2:
			return nil
		case state[name] == 1:
			return fmt.Errorf("module %s needs itself", name)
		case !there:
			return fmt.Errorf("this kernel has no module %s", name)
		}
		state[name] = 1
		raw, err := t.load(file)
		if err != nil {
			return err
		}
		needs, err := moduleNeeds(raw)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for _, needed := range needs {
			if err := visit(needed); err != nil {
				return fmt.Errorf("%w, for %s", err, name)
			}
		}
		state[name] = 2
		files = append(files, file)
		return nil
	}
	for _, name := range names {
		if err := visit(name); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// moduleNeeds returns the names of the modules that a module says it needs.
func moduleNeeds(module []byte) ([]string, error) {
	object, err := elf.NewFile(bytes.NewReader(module))
	if err != nil {
		return nil, err
	}
	section := object.Section(".modinfo")
	if section == nil {
		return nil, errors.New("no kernel module")
	}
	info, err := section.Data()
	if err != nil {
		return nil, err
	}
	return parseNeeds(info), nil
}

// parseNeeds reads "key=value" strings that end with zeros.
func parseNeeds(info []byte) (needs []string) {
	for field := range bytes.SplitSeq(info, []byte{0}) {
		if list, ok := strings.CutPrefix(string(field), "depends="); ok {
			needs = append(needs, strings.FieldsFunc(list, func(r rune) bool { return r == ',' })...)
		}
	}
	for i, name := range needs {
		needs[i] = strings.ReplaceAll(name, "-", "_")
	}
	return needs
}

// loadModule returns a module as the kernel loads it. Newer kernels of Debian have
// them compressed.
func loadModule(file, busybox string) ([]byte, error) {
	switch filepath.Ext(file) {
	case ".ko":
		return os.ReadFile(file)
	case ".xz":
		raw, err := exec.Command(busybox, "unxz", "-c", file).Output()
		if err != nil {
			return nil, fmt.Errorf("unpacking %s: %w", file, err)
		}
		return raw, nil
	}
	return nil, fmt.Errorf("%s: modules of this kind are not known here", file)
}
