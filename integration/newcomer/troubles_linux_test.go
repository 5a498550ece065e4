package newcomer

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gomx/internal/testlength"
)

const troubleshooting = "docs/troubleshooting.md"

// troubles are the sections of docs/troubleshooting.md whose messages the program below prints, with the word by which
// it does, and what it needs in its environment.
var troubles = []struct {
	section, word string
	env           []string
}{
	{"It hangs", "hang", []string{"MX_LOCAL=2", "MX_HANG_TIMEOUT=1s"}},
	{"It is slow", "slow", nil},
	{"It uses the wrong interface", "interface", []string{"MX_NET=nonesuch0"}},
	{"The store is full", "store", []string{"MX_UNEXP_BYTES=4K", "MX_UNEXP_RESERVE=1", "MX_UNEXP_HEADERS=1"}},
	{"The cores are busy", "cores", nil},
}

// TestTroubles gets into the troubles of docs/troubleshooting.md, and finds the lines that it shows.
func TestTroubles(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	program := buildTroubles(t)
	for _, c := range troubles {
		t.Run(c.word, func(t *testing.T) {
			out, _ := shell(t, ".", program+" "+c.word, c.env...) // whether it ends well is not the point
			shows(t, c.section, out)
		})
	}
	t.Run("firewall", func(t *testing.T) {
		port := mutePort(t)
		out, err := shell(t, ".", program+" firewall 3", "MX_NET=lo", "MX_CONNECT_TIMEOUT=200ms", fmt.Sprintf("MX_PORT_BASE=%d", port-3))
		if err == nil {
			t.Error("it connects")
		}
		shows(t, "A firewall is in the way", out)
	})
}

func buildTroubles(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "troubles")
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", program, "./troubles").CombinedOutput(); err != nil {
		t.Fatalf("building troubles: %v\n%s", err, out)
	}
	return program
}

// shows fails unless a line of out is the message of the section.
func shows(t *testing.T, section, out string) {
	t.Helper()
	want := saidIn(t, troubleshooting, section)
	if !slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool { return want.MatchString(strings.TrimSpace(line)) }) {
		t.Errorf("it prints\n%s\nand %s says\n%v", out, troubleshooting, want)
	}
}

// mutePort returns a port of this host that answers nothing, as behind a firewall: the queue of its listener is full.
func mutePort(t *testing.T) int {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	port := name.(*syscall.SockaddrInet4).Port
	c, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", port)) // it takes the only place
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return port
}

var (
	sectionPattern = regexp.MustCompile(`(?m)^## (.*)\n`)
	madeBy         = "`integration/newcomer TestTroubles`"
)

// TestTroublesAreAllMade: a section that says that this test makes its message has a line in the table.
func TestTroublesAreAllMade(t *testing.T) {
	made := []string{"A firewall is in the way"}
	for _, c := range troubles {
		made = append(made, c.section)
	}
	all := text(t, troubleshooting)
	for _, m := range sectionPattern.FindAllStringSubmatchIndex(all, -1) {
		section, rest := all[m[2]:m[3]], all[m[1]:]
		if end := strings.Index(rest, "\n## "); end >= 0 {
			rest = rest[:end]
		}
		if strings.Contains(rest, madeBy) != slices.Contains(made, section) {
			t.Errorf("%s: does TestTroubles make the message of %q?", troubleshooting, section)
		}
	}
}
