//go:build linux

package rdma_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gomx/integration/internal/proc"
	"gomx/integration/internal/traffic"
	"gomx/mx"
)

// Of two peers one of which has no RDMA, both speak TCP, and the one that has knows
// why.
func TestMixedPeers(t *testing.T) {
	w := sameDevice(t)
	both, only := start(t, w.left, aID, "MX_TRANSPORT=rdma,tcp"), start(t, w.right, bID, "MX_TRANSPORT=tcp")
	c := &couple{t: t, a: both, b: only}
	c.connect(w)
	c.exchange(500, traffic.Mixed)
	if says := both.Way(c.toB); !strings.HasPrefix(says, "tcp;") || !strings.Contains(says, "does not speak RDMA") {
		t.Error(says)
	} else {
		t.Log(says)
	}
	if says := only.Way(c.toA); !strings.HasPrefix(says, "tcp; instead: ;") {
		t.Error(says)
	}
}

// Of two peers that have nothing in common each is told so.
func TestNothingInCommon(t *testing.T) {
	w := sameDevice(t)
	withRDMA, sockets := start(t, w.left, aID), start(t, w.right, bID, "MX_TRANSPORT=tcp")
	began := time.Now()
	for _, says := range []string{
		withRDMA.ConnectFails(w.right.host, bID, traffic.Filter, 20*time.Second),
		sockets.ConnectFails(w.left.host, aID, traffic.Filter, 20*time.Second),
	} {
		t.Log(says)
		if !strings.Contains(says, "does not speak") {
			t.Error(says)
		}
	}
	t.Log("both took", time.Since(began).Round(time.Millisecond))
}

// short is a peer that may lock only so much memory, in bytes.
func short(c *proc.Child) {
	limit := uint64(c.Number(0))
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		c.Fail(err)
	}
	c.Args = nil
	traffic.Role(c)
}

// A process that may lock little memory does with less, or is told how much it takes,
// or speaks TCP.
func TestLittleMemoryToLock(t *testing.T) {
	needMachine(t)
	w := sameDevice(t)
	for _, c := range []struct {
		name, transports string
		limit            int
		way              string // empty: the endpoint is not opened
		says             string
	}{
		{"none", "rdma", 0, "", "RLIMIT_MEMLOCK"},
		{"64 KiB", "rdma", 64 << 10, "", "RLIMIT_MEMLOCK"},
		{"2 MiB", "rdma", 2 << 20, "rdma", ""},
		{"8 MiB", "rdma", 8 << 20, "rdma", ""},
		{"none, and TCP by itself", "", 0, "tcp", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := []string{"MX_DISABLE_SHMEM=1"}
			o := over(w.right, env...)
			if o.Env[0] = "MX_TRANSPORT=" + c.transports; c.transports == "" {
				o.Env = o.Env[1:]
			}
			p := traffic.Wrap(t, proc.StartWith(t, proc.AsNobody(t, o), "short", c.limit))
			if c.way == "" {
				says := p.OpenFails(bID)
				t.Log(says)
				if !strings.Contains(says, c.says) || !strings.Contains(says, "bytes") {
					t.Errorf("says %q, nothing about %s", says, c.says)
				}
				return
			}
			p.Open(bID)
			pair := &couple{t: t, a: start(t, w.left, aID, "MX_TRANSPORT=rdma,tcp"), b: p}
			pair.connect(w)
			pair.exchange(100, traffic.Mixed)
			says := pair.a.Way(pair.toB)
			t.Logf("%s; pinned %d; get rendezvous %d, pipelined %d", says, p.Pinned(), pair.both("get rendezvous"), pair.both("pipelined rendezvous"))
			if !strings.HasPrefix(says, c.way+";") {
				t.Error(says)
			}
		})
	}
}

// libraryFolder is where the machine has its libraries.
const libraryFolder = "/lib/x86_64-linux-gnu"

// Without the library everything else works, and mx_info says what is missing.
func TestWithoutLibrary(t *testing.T) {
	w := sameDevice(t)
	needMachine(t)
	file := filepath.Join(libraryFolder, "libibverbs.so.1")
	if err := os.Rename(file, file+".away"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Rename(file+".away", file) })
	off(t, w, "libibverbs.so.1")
	for _, transports := range []string{"shm", "tcp"} {
		o := proc.Options{Env: []string{"MX_TRANSPORT=" + transports, "MX_NET=" + w.left.net}}
		a, b := traffic.Start(t, o), traffic.Start(t, o)
		a.Open(aID)
		b.Open(bID)
		c := &couple{t: t, a: a, b: b}
		c.connect(w)
		c.exchange(200, traffic.Mixed)
	}
	a := traffic.Start(t, over(w.left))
	if says := a.OpenFails(aID); !strings.Contains(says, "libibverbs.so.1") {
		t.Error(says)
	}
}

// off wants mx_info to say why RDMA is off.
func off(t *testing.T, w way, why string) {
	t.Helper()
	out, err := exec.Command("mx_info").CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("needs the program mx_info: ", err)
	}
	if err != nil || !bytes.Contains(out, []byte(why)) {
		t.Errorf("%v: it says nothing about %s:\n%s", err, why, out)
	}
}

var withoutCgo = flag.Bool("rdma.nocgo", false, "have TestBuiltWithoutCgo build programs without cgo")

// A program that was built without cgo works in all other respects.
func TestBuiltWithoutCgo(t *testing.T) {
	if !*withoutCgo {
		t.Skip("only with -rdma.nocgo: this builds most of the module again, and the standard library; .ci/run does it")
	}
	dir := t.TempDir()
	cmd := exec.Command("go", "build", "-o", dir, "gomx/cmd/mx_info", "gomx/cmd/mx_pingpong")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
		t.Skip("needs the go command to build the programs: ", err)
	} else if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for line, want := range map[string]string{
		"mx_info": "built without it",
		"mx_pingpong -E 1025 -N 20 -V -transport tcp": "1024",
	} {
		words := strings.Fields(line)
		out, err := exec.Command(filepath.Join(dir, words[0]), words[1:]...).CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte(want)) {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	_ = mx.Transports
}
