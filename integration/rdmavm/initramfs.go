package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"gomx/integration/rdmavm/internal/plan"
)

// Folders of the machine.
const (
	librariesInside = "lib/x86_64-linux-gnu"
	modulesInside   = "modules"
)

// firstProcess collects orphans, as the first process must, and ends the machine when the
// program that does the work has ended. Open MPI is told that there is no way to other hosts,
// or it would miss one.
const firstProcess = `#!/bin/busybox sh
export PATH=/bin:/usr/bin HOME=/tmp
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts
mount -t devpts pts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
ulimit -n 65536
export OMPI_MCA_plm=isolated
guest
poweroff -f
`

// toolPrograms are the programs of the machine beside ours. dash is the shell: that of
// busybox takes its own commands before those that PATH names.
var toolPrograms = []string{
	"busybox", "dash", "ip", "tc", "rdma", "ibv_devices", "ibv_devinfo", "ibv_rc_pingpong", "ibv_srq_pingpong",
	"ib_send_lat", "ib_send_bw", "ib_write_lat", "ib_write_bw", "ib_read_lat", "ib_read_bw",
}

// contents is what a machine's root file system has.
type contents struct {
	tools    roots
	kernel   *moduleTree
	programs []string     // files of ours, by the names that they have in the machine
	tests    []testBinary // with the testdata of their packages
	mpi      bool         // the MPIs are in the machine
}

// image is an archive that is being made. It makes folders where files need them.
type image struct {
	archive
	made map[string]bool
}

// writeImage writes the archive of one machine to a file. It completes p with the
// modules to load.
func writeImage(file string, c contents, p plan.Plan) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	i := &image{archive: archive{w: w}, made: map[string]bool{".": true}}
	for _, folder := range []string{"proc", "sys", "dev", "tmp", "run", "root", "etc", "var/run"} {
		i.folder(folder)
	}
	i.add(entry{name: "dev/console", mode: modeDevice | 0o600, major: 5, minor: 1}, nil)
	i.text("init", 0o755, firstProcess)
	i.text("etc/passwd", 0o644, "root:x:0:0:root:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n")
	i.text("etc/group", 0o644, "root:x:0:\nnogroup:x:65534:\n")
	i.text("etc/hosts", 0o644, "127.0.0.1 localhost\n10.79.0.1 host1\n10.79.0.2 host2\n")
	i.text("etc/nsswitch.conf", 0o644, "hosts: files\npasswd: files\ngroup: files\n")
	i.modules(c.kernel, &p)
	i.programs(c)
	for name, target := range map[string]string{"on": "guest", "listening": "guest", "sh": "dash"} {
		i.link("bin/"+name, target)
	}
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	i.text(strings.TrimPrefix(plan.File, "/"), 0o644, string(text))
	return errors.Join(i.finish(), w.Flush())
}

// modules adds the kernel modules and names them in the plan.
func (i *image) modules(kernel *moduleTree, p *plan.Plan) {
	files, err := kernel.order(modules...)
	i.fail(err)
	for _, file := range files {
		raw, err := kernel.load(file)
		i.fail(err)
		name := path.Join(modulesInside, moduleName(file)+".ko")
		i.bytes(name, 0o644, raw)
		p.Modules = append(p.Modules, "/"+name)
	}
}

// programs adds all programs, their libraries and the providers of verbs.
func (i *image) programs(c contents) {
	var linked []string // what may need libraries
	program := func(inside, file string) {
		i.file(inside, 0o755, file)
		linked = append(linked, file)
	}
	for _, name := range toolPrograms {
		file, err := c.tools.program(name)
		i.fail(err)
		program("bin/"+name, file)
	}
	for _, file := range c.programs {
		program("bin/"+filepath.Base(file), file)
	}
	for _, t := range c.tests {
		folder := strings.TrimPrefix(t.inside(), "/")
		i.folder(folder)
		i.tree(folder+"/testdata", filepath.Join(t.folder, "testdata"))
		program(folder+"/"+path.Base(t.name)+".test", t.file)
	}
	if c.mpi {
		linked = append(linked, i.mpi(c.tools)...)
	}
	providers, err := c.tools.glob("usr/lib/x86_64-linux-gnu/libibverbs/librxe-*.so")
	i.fail(err)
	for _, file := range providers {
		program(librariesInside+"/libibverbs/"+filepath.Base(file), file)
	}
	i.text("etc/libibverbs.d/rxe.driver", 0o644, "driver rxe\n")
	// Programs that open the library at run time don't name it.
	verbs, err := c.tools.find(libraryFolders, "libibverbs.so.1")
	i.fail(err)
	libraries, err := c.tools.libraries(append(linked, verbs)...)
	i.fail(err)
	added := map[string]bool{}
	for _, file := range append(libraries, verbs) {
		name := filepath.Base(file)
		if added[name] {
			continue
		}
		added[name] = true
		if strings.HasPrefix(name, "ld-linux") {
			i.file("lib64/"+name, 0o755, file)
		} else {
			i.file(librariesInside+"/"+name, 0o755, file)
		}
	}
	i.link("usr/"+librariesInside, "../../"+librariesInside)
}

// tree adds what is below a folder, if it is there.
func (i *image) tree(inside, folder string) {
	err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(folder, file)
		i.file(path.Join(inside, filepath.ToSlash(rel)), 0o644, file)
		return err
	})
	if !errors.Is(err, fs.ErrNotExist) {
		i.fail(err)
	}
}

// folder adds a folder and those above it, once.
func (i *image) folder(name string) {
	if i.made[name] {
		return
	}
	i.made[name] = true
	i.folder(path.Dir(name))
	i.add(entry{name: name, mode: modeFolder | 0o755}, nil)
}

func (i *image) link(name, target string) {
	i.folder(path.Dir(name))
	i.add(entry{name: name, mode: modeLink | 0o777, size: int64(len(target))}, strings.NewReader(target))
}

func (i *image) text(name string, permissions int, text string) {
	i.bytes(name, permissions, []byte(text))
}

func (i *image) bytes(name string, permissions int, contents []byte) {
	i.folder(path.Dir(name))
	i.add(entry{name: name, mode: modeFile | permissions, size: int64(len(contents))}, bytes.NewReader(contents))
}

func (i *image) file(name string, permissions int, from string) {
	f, err := os.Open(from)
	if err != nil {
		i.fail(err)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		i.fail(err)
		return
	}
	i.folder(path.Dir(name))
	i.add(entry{name: name, mode: modeFile | permissions, size: info.Size()}, f)
}

func (i *image) fail(err error) {
	if i.err == nil {
		i.err = err
	}
}
