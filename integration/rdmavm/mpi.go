package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// mpiPackages have the MPIs that gomx is compared with, and their headers. UCX is
// what both use.
var mpiPackages = []string{"libmpich-dev", "libopenmpi-dev", "libpmix2", "libucx0", "mpich", "openmpi-bin"}

// mpiPrograms start the processes of an MPI.
var mpiPrograms = []string{"hydra_pmi_proxy", "mpirun.mpich", "mpirun.openmpi"}

// mpiPlugins are libraries that the MPIs open at run time, below the folder of Debian's
// libraries.
var mpiPlugins = []string{"openmpi/lib/openmpi3/*.so", "pmix2/lib/pmix/*.so", "ucx/*.so.0"}

// mpiTexts are folders of what Open MPI reads: the settings of devices, and what its errors
// mean.
var mpiTexts = []string{"etc/openmpi", "usr/share/openmpi"}

// rankPrograms measure an MPI: programs of bench/ordinary, which stand beside those of the same name in Go.
var rankPrograms = []string{"mpi_pingpong", "mpi_window"}

// sourcesOfRanks is a package from which the folder of their sources is found.
const sourcesOfRanks = "gomx/bench/ordinary/mpi_pingpong"

// comparedPrograms are those that bench/compare runs for gomx.
var comparedPrograms = []string{"gomx/cmd/mx_run", "gomx/bench/ordinary/mpi_pingpong", "gomx/bench/ordinary/mpi_window"}

// rank is how rank programs are made for one MPI.
type rank struct {
	ending  string // of the binary's name, as bench/compare wants it
	headers string // folder below the libraries', or below usr/include
	library string
}

var ranks = []rank{
	{".openmpi", "usr/lib/x86_64-linux-gnu/openmpi/include", "libmpi.so.40"},
	{".mpich", "usr/include/x86_64-linux-gnu/mpich", "libmpich.so.12"},
}

// ranks compiles the rank programs for every MPI, and returns the binaries. The compiler
// wrappers of the MPIs know only what is installed, so they are of no use here.
func (b builder) ranks(ctx context.Context, r roots) (files []string, err error) {
	out, err := b.run(ctx, os.Environ(), "list", "-f", "{{.Dir}}", sourcesOfRanks)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(filepath.Dir(strings.TrimSpace(string(out))), "peers")
	for _, m := range ranks {
		headers, err := r.glob(m.headers)
		if err != nil {
			return nil, err
		}
		library, err := r.find(libraryFolders, m.library)
		if err != nil {
			return nil, err
		}
		for _, program := range rankPrograms {
			file, source := filepath.Join(b.dir, program+m.ending), filepath.Join(folder, program+".c")
			cmd := exec.CommandContext(ctx, "gcc", "-O2", "-I", headers[0], "-o", file, source, library, "-lm", "-Wl,--allow-shlib-undefined")
			if out, err := cmd.CombinedOutput(); err != nil {
				return nil, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, out)
			}
			files = append(files, file)
		}
	}
	return files, nil
}

// mpi adds the MPIs' launchers, plugins and texts, and returns the files that may need
// libraries. Plugins for what this machine has not, such as batch systems, are left out.
func (i *image) mpi(r roots) (linked []string) {
	for _, name := range mpiPrograms {
		file, err := r.program(name)
		i.fail(err)
		i.file("usr/bin/"+name, 0o755, file) // Open MPI wants to be in a folder below the root
		linked = append(linked, file)
	}
	for _, pattern := range mpiPlugins {
		files, err := r.glob(path.Join("usr/lib/x86_64-linux-gnu", pattern))
		i.fail(err)
		for _, file := range files {
			if _, err := r.libraries(file); err != nil {
				continue
			}
			i.file(path.Join(librariesInside, path.Dir(pattern), filepath.Base(file)), 0o755, file)
			linked = append(linked, file)
		}
	}
	for _, folder := range mpiTexts {
		found, err := r.glob(folder)
		if err != nil {
			i.fail(err)
			continue
		}
		i.tree(folder, found[0])
	}
	return linked
}
