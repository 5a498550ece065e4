package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"gomx/integration/rdmavm/internal/child"
	"gomx/integration/rdmavm/internal/plan"
)

// shownLines of the kernel's console are shown of a machine that failed.
const shownLines = 30

// machine is one virtual machine. Its files are named by its number.
type machine struct {
	number  int
	dir     string
	root    string // of the packages
	kernel  string
	output  io.Writer // what programs print
	console io.Writer // the kernel's messages, which are kept in a file as well
	hear    func(plan.Message)
}

func (m *machine) file(name string) string {
	return filepath.Join(m.dir, fmt.Sprintf("host%d.%s", m.number, name))
}

func (m *machine) image() string { return m.file("initramfs") }

// boot runs the machine until it ends or ctx is done. It never outlives the
// command.
func (m *machine) boot(ctx context.Context, hosts int) error {
	log, err := os.Create(m.file("console"))
	if err != nil {
		return err
	}
	defer log.Close()
	var done sync.WaitGroup
	defer done.Wait()
	args := m.arguments(hosts)
	readers := []func(io.Reader) error{
		func(r io.Reader) error { _, err := io.Copy(io.MultiWriter(log, m.console), r); return err },
		func(r io.Reader) error { _, err := io.Copy(m.output, r); return err },
		m.listen,
	}
	for i, read := range readers { // in the order of the machine's serial ports
		socket := m.file(fmt.Sprintf("ttyS%d", i))
		l, err := net.Listen("unix", socket)
		if err != nil {
			return err
		}
		defer l.Close() // before the wait for the readers
		args = append(args, "-chardev", fmt.Sprintf("socket,id=tty%d,path=%s", i, socket), "-serial", fmt.Sprintf("chardev:tty%d", i))
		done.Go(func() {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			if err := read(c); err != nil {
				fmt.Fprintf(m.console, "serial port %d: %v\n", i, err)
			}
		})
	}
	cmd := m.command(args)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if err := child.Run(ctx, cmd); err != nil {
		return fmt.Errorf("machine %d: %w\n%s", m.number, err, bytes.TrimSpace(complaints.Bytes()))
	}
	return nil
}

// arguments are those of qemu, but for the serial ports.
func (m *machine) arguments(hosts int) []string {
	args := []string{
		"-accel", "tcg,thread=multi", "-cpu", "max", "-m", "1024", "-smp", strconv.Itoa(processors(hosts, runtime.NumCPU())),
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-kernel", m.kernel, "-initrd", m.image(), "-append", "console=ttyS0 panic=-1 loglevel=5 net.ifnames=0 tsc=reliable",
	}
	if hosts == 1 {
		return append(args, "-nic", "none")
	}
	const datagrams = "dgram,id=cable,local.type=unix,local.path=%s,remote.type=unix,remote.path=%s"
	other := &machine{number: 3 - m.number, dir: m.dir}
	return append(args, "-netdev", fmt.Sprintf(datagrams, m.file("cable"), other.file("cable")),
		"-device", fmt.Sprintf("virtio-net-pci,netdev=cable,mac=52:54:00:79:00:%02x,romfile=", m.number))
}

// processors is how many a machine has. Where virtual ones take turns on real ones, those
// that spin keep those waiting that they spin for.
func processors(hosts, cores int) int { return min(max(cores/hosts, 1), 2) }

// command is qemu of this machine, or else of the packages.
func (m *machine) command(args []string) *exec.Cmd {
	if file, err := exec.LookPath(qemu); err == nil {
		return exec.Command(file, args...)
	}
	below := func(name string) string { return filepath.Join(m.root, name) }
	for _, data := range []string{"usr/share/qemu", "usr/share/seabios"} {
		args = append(args, "-L", below(data))
	}
	var libraries []string
	for _, folder := range libraryFolders {
		libraries = append(libraries, below(folder))
	}
	cmd := exec.Command(below("usr/bin/"+qemu), args...)
	cmd.Env = append(os.Environ(),
		"LD_LIBRARY_PATH="+strings.Join(libraries, ":"), "QEMU_MODULE_DIR="+below("usr/lib/x86_64-linux-gnu/qemu"))
	return cmd
}

// listen passes on what the machine tells.
func (m *machine) listen(r io.Reader) error {
	for d := json.NewDecoder(r); ; {
		var msg plan.Message
		err := d.Decode(&msg)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		m.hear(msg)
	}
}

// lastWords returns the end of the kernel's console.
func (m *machine) lastWords() string {
	text, err := os.ReadFile(m.file("console"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-shownLines):], "\n")
}
