package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"gomx/bench/internal/turns"
)

// each is what chooses a row or two of each program, so that all run with all that they stand beside: small and large messages,
// numbers of ranks that are no power of two, and what is measured only when it is asked for.
const each = `^mpi ping-pong (8 B|2 MiB|8 B behind 16,384 posted receives)$|^mpi 64 x (8 B|32 KiB),|^32,768|` +
	`^mx|^asleep|^blocked|of 100 ms|^killed|^64 idle|receiver 3 s late|10 senders|` +
	`^server|^second of two|^pipeline.*, 2|^halo of 128.*, 4|^Iallreduce.*, 2|^FetchAndOp.*, 4|^lock.*, 2|` +
	`^(barrier|bcast|reduce|alltoall|allgather|gather|scatter) ?(4 KiB)?, 3 ranks|^allreduce 8 B, 4 ranks|` +
	`^echo|^small GET, (16 connections|HTTP/2 over TLS)$|of a file of 1 MiB, one|^io.Copy|^dial, echo 64 B, close$|^grpc (call of 64 B|stream)`

// few of them are those that run unless all are asked for, and overTCP what runs over TCP.
const (
	few     = `^mpi ping-pong 8 B$|^small GET, 16 connections$`
	overTCP = `^mpi ping-pong 4 KiB|small GET, one`
)

var everyRow = flag.Bool("compare.rows", false, "have TestOnce run a row or two of each program, not only a few rows")

// TestOnce runs programs once with small counts. That figures come out is what counts, not which.
func TestOnce(t *testing.T) {
	only := few
	if *everyRow {
		only = each
	}
	tryRows(t, only, 1, "-programs", programs(t))
}

// wanted are the rows that -only chooses.
func wanted(t *testing.T, only string) []turns.Row {
	t.Helper()
	all, err := compare.Wanted("-only", only)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestOverTCPAmongNeighbours has some of them send over TCP, beside what computes.
func TestOverTCPAmongNeighbours(t *testing.T) {
	tryRows(t, overTCP, 1, "-over", "tcp", "-busy", "-programs", programs(t))
}

// programs builds what the tests of this package run, once.
func programs(t *testing.T) string {
	if testing.Short() {
		t.Skip("builds all programs")
	}
	needsTwoCores(t)
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -ldflags=-w")) // the debugger's tables take half of the linker's time
	folder, err := builtPrograms()
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// builtFolder is where they lie.
var builtFolder string

var builtPrograms = sync.OnceValues(func() (string, error) {
	var err error
	if builtFolder, err = os.MkdirTemp("", "gomx-compare-test-"); err != nil {
		return "", err
	}
	folder, rows := filepath.Join(builtFolder, "programs"), few+"|"+overTCP
	if *everyRow {
		rows = each + "|" + overTCP
	}
	return folder, compare.Build(context.Background(), folder, rows, io.Discard)
})

func TestMain(m *testing.M) {
	status := m.Run()
	if builtFolder != "" {
		_ = os.RemoveAll(builtFolder)
	}
	os.Exit(status)
}

func needsTwoCores(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux: processes of one host talk over shared memory")
	}
	if runtime.NumCPU() < 2 {
		t.Skip("this machine has one core, and ranks that never sleep need one each")
	}
}

// TestAgainst has some of them built inside another checkout as well, which is a copy of this one.
func TestAgainst(t *testing.T) {
	if !*everyRow {
		t.Skip("only with -compare.rows: this builds the library a second time; .ci/run does it")
	}
	needsTwoCores(t)
	t.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -trimpath -ldflags=-w")) // what lies elsewhere is then built once
	tryRows(t, "ping-pong 8 B, SingleThreaded|grpc call", 2, "-against", copyOfTheModule(t))
}

// tryRows wants a figure of each row that matches, by each of so many versions of gomx. It fetches no modules: what
// needs modules that are not here is named and left out.
func tryRows(t *testing.T, only string, versions int, more ...string) {
	needsTwoCores(t)
	t.Setenv("GOPROXY", "off")
	args := append([]string{"-rounds", "1", "-scale", "200", "-timeout", "2m", "-json", "-only", only}, more...)
	var out, said bytes.Buffer
	if err := compare.Run(t.Context(), args, &out, &said); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	t.Log(said.String())
	seen := map[string]int{}
	for text := range bytes.Lines(out.Bytes()) {
		var l turns.Entry
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(err)
		}
		if l.Reason != "" && !l.Failed {
			continue
		}
		if len(l.Values) != 1 || len(l.CPU) != 1 {
			t.Errorf("%s, %s: %v, %v", l.Program, l.Subject, l.Values, l.CPU)
		}
		if !slices.Contains(counterparts, l.Subject) {
			seen[l.Program]++
		}
	}
	for _, r := range wanted(t, only) {
		lacking := strings.Contains("\n"+said.String(), "\n"+r.Program+": ")
		if !lacking && seen[r.Name] != versions {
			t.Errorf("%s: %d figures of gomx", r.Name, seen[r.Name])
		}
	}
}

// counterparts are the names of what is no version of gomx.
var counterparts = slices.Concat(turns.MPIs, []string{turns.TCPName, turns.UnixName, turns.BareName[turns.SHM], turns.BareName[turns.TCP]})

// copyOfTheModule is a folder whose entries are those of this checkout, but for bench, so that the programs and what
// they are made of have to come from here.
func copyOfTheModule(t *testing.T) string {
	t.Helper()
	module, err := turns.ModulePath(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	there := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "cmd/mx_run", "internal", "endpoint", "exs", "match", "mpi", "mx", "transport", "unexpected"} {
		if err := copyTree(module, there, name); err != nil {
			t.Fatal(err)
		}
	}
	return there
}

func copyTree(from, to, name string) error {
	info, err := os.Stat(from + "/" + name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to+"/"+name, os.DirFS(from+"/"+name))
	}
	text, err := os.ReadFile(from + "/" + name)
	if err != nil {
		return err
	}
	return os.WriteFile(to+"/"+name, text, 0o600)
}

// TestMeasuredOnlyWhenAskedFor wants each row to have a name of its own, and -only to choose among all of them.
func TestMeasuredOnlyWhenAskedFor(t *testing.T) {
	names := func(only string) map[string]bool {
		seen := map[string]bool{}
		for _, r := range wanted(t, only) {
			if seen[r.Name] {
				t.Errorf("two rows have the name %s", r.Name)
			}
			seen[r.Name] = true
		}
		return seen
	}
	few, all := names(""), names(".")
	const large = "alltoall 2 MiB, 8 ranks"
	if few[large] || !all[large] || !few["barrier, 4 ranks"] || len(few) > 40 {
		t.Errorf("%d rows without -only, %d with it", len(few), len(all))
	}
}
