package main

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Where Debian has libraries and programs, below a root.
var (
	libraryFolders = []string{"usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu", "usr/lib", "lib", "lib64"}
	programFolders = []string{"usr/bin", "bin", "usr/sbin", "sbin"}
)

// roots are folders that look like / of a Debian. Earlier ones come first.
type roots []string

// find returns the file of that name in one of the folders.
func (r roots) find(folders []string, name string) (string, error) {
	for _, root := range r {
		for _, folder := range folders {
			file := filepath.Join(root, folder, name)
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
				return file, nil
			}
		}
	}
	return "", fmt.Errorf("%s is neither in the packages nor on this machine", name)
}

func (r roots) program(name string) (string, error) { return r.find(programFolders, name) }

// glob returns the files of the first root that has such files.
func (r roots) glob(pattern string) ([]string, error) {
	for _, root := range r {
		if list, err := filepath.Glob(filepath.Join(root, pattern)); err != nil || len(list) > 0 {
			return list, err
		}
	}
	return nil, fmt.Errorf("%s is neither in the packages nor on this machine", pattern)
}

// libraries returns the files of all shared libraries that the programs need, and
// of the loaders that load them.
func (r roots) libraries(programs ...string) ([]string, error) {
	var found []string
	seen := map[string]bool{}
	for todo := slices.Clone(programs); len(todo) > 0; {
		file := todo[0]
		todo = todo[1:]
		names, err := needed(file)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if seen[name] {
				continue
			}
			seen[name] = true
			library, err := r.find(libraryFolders, name)
			if err != nil {
				return nil, fmt.Errorf("%w; %s needs it", err, file)
			}
			found, todo = append(found, library), append(todo, library)
		}
	}
	return found, nil
}

// needed returns the names of the libraries and of the loader that a program or library
// names. Scripts need none here.
func needed(file string) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	magic := make([]byte, len(elf.ELFMAG))
	if n, _ := f.ReadAt(magic, 0); string(magic[:n]) != elf.ELFMAG {
		return nil, nil
	}
	object, err := elf.NewFile(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	names, err := object.ImportedLibraries()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if section := object.Section(".interp"); section != nil {
		loader, err := section.Data()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		names = append(names, filepath.Base(strings.TrimRight(string(loader), "\x00")))
	}
	return names, nil
}
