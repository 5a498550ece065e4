package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gomx/bench/internal/turns"
	"gomx/internal/cmdline"
)

// smallest chooses the smallest row of each kind that this test runs, by its name.
const smallest = `^(job|allreduce 8 B|first alltoall 8 B), (2 ranks|10 goroutines)$|^round 2 |^8 B from 1 (ranks|endpoints)|^1 idle|` +
	`^8 B behind 10 |^10 unexpected messages(|, one mask|, 16 masks)$|^open endpoint 1 |^connect endpoint 2 |` +
	`^(message|peer) of 1,000 simulated endpoints, 16 peers each$|^mpi ping-pong 1 B$`

var everyKind = flag.Bool("scale.rows", false, "have TestSmallestOfEach run the smallest row of each kind")

// TestSmallestOfEach runs the smallest row of each kind with small counts. That figures and pictures come out is what counts, not
// which.
func TestSmallestOfEach(t *testing.T) {
	if !*everyKind {
		t.Skip("only with -scale.rows: this builds the programs of all rows, and runs them; .ci/run does it")
	}
	if runtime.GOOS != "linux" || runtime.NumCPU() < 2 {
		t.Skip("needs Linux and two cores: ranks that never sleep need one each")
	}
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -ldflags=-w"))
	folder := t.TempDir()
	var out, said bytes.Buffer
	args := []string{"-quick", "-scale", "1000", "-timeout", "2m", "-json", "-only", smallest, "-plot", filepath.Join(folder, "pictures")}
	if err := scale.Run(t.Context(), args, &out, &said); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	t.Log(said.String())
	seen := map[string]bool{}
	for text := range bytes.Lines(out.Bytes()) {
		var e turns.Entry
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		if e.Subject != turns.GomxName {
			continue
		}
		seen[e.Program] = true
		if len(e.Values) != 1 || !(e.Values[0] > 0) || math.IsInf(e.Values[0], 0) {
			t.Errorf("%s: %v, %s", e.Program, e.Values, e.Reason)
		}
	}
	wanted, err := scale.Wanted("-quick", "-only", smallest)
	if err != nil || len(wanted) < len(pictures) {
		t.Fatal(len(wanted), err)
	}
	for _, r := range wanted {
		if !seen[r.Name] {
			t.Errorf("%s: no figure of gomx", r.Name)
		}
	}
	for _, p := range pictures {
		text, err := os.ReadFile(filepath.Join(folder, "pictures", p.name+".svg"))
		for _, want := range []string{">" + p.title + "<", ">" + p.axis + "<", "default options"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("the picture of %s does not say %q: %v", p.name, want, err)
			}
		}
	}
}

// TestCurves wants each row to have a name and a picture of its own, curves in the order of what they are drawn over, and two points
// of each with -quick; and that by default less is measured than there is.
func TestCurves(t *testing.T) {
	names, at, quick := map[string]bool{}, map[turns.Curve]int{}, map[turns.Curve]int{}
	for _, r := range rows(1) {
		if names[r.Name] {
			t.Errorf("two rows have the name %s", r.Name)
		}
		names[r.Name] = true
		if !slices.ContainsFunc(pictures, func(p struct{ name, title, axis, note string }) bool { return p.name == r.Curve.Picture }) {
			t.Errorf("%s: there is no picture %q", r.Name, r.Curve.Picture)
		}
		c := r.Curve
		c.At = 0
		if r.Curve.At <= at[c] {
			t.Errorf("%s comes after %d", r.Name, at[c])
		}
		at[c] = r.Curve.At
		if r.Quick {
			quick[c]++
		}
	}
	for c := range at {
		if quick[c] != quickPoints {
			t.Errorf("%v: %d points with -quick", c, quick[c])
		}
	}
	few, err := scale.Wanted()
	all, err2 := scale.Wanted("-only", ".")
	if err != nil || err2 != nil || len(few) >= len(all) || len(all) != len(names) {
		t.Errorf("%d rows, %d with -only, of %d: %v, %v", len(few), len(all), len(names), err, err2)
	}
}

// earlier are figures of an earlier run, of which some are missing.
const earlier = `{"program":"job, 2 ranks","subject":"gomx","over":"shm","unit":"s","values":[0.2],"cpu_us_per_op":[1]}
{"program":"job, 2 ranks","subject":"Open MPI","over":"shm","unit":"s","values":[0.4],"cpu_us_per_op":[1],"library":"Open MPI 4"}
{"program":"job, 2 ranks","subject":"MPICH","over":"shm","unit":"s","values":null,"cpu_us_per_op":null,"not_measured":"not installed"}
{"program":"job, 4 ranks","subject":"gomx","over":"shm","unit":"s","values":[0.3],"cpu_us_per_op":[1]}
{"program":"job, 4 ranks","subject":"Open MPI","over":"shm","unit":"s","values":null,"cpu_us_per_op":null,"failed":true,"not_measured":"did not end"}
{"program":"8 B from 256 endpoints of a process, TCP","subject":"gomx","over":"tcp","unit":"us","values":[0.75],"cpu_us_per_op":[1]}
`

func TestEarlierFigures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "earlier.json")
	if err := os.WriteFile(file, []byte(earlier), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags string
		wants []string
	}{
		{"-markdown", []string{
			"\nRanks that are processes: us, ", "| job, 2 ranks, s | 0.2 | 0.4 | not measured | 0.50 |  |\n", "| job, 4 ranks, s | 0.3 | failed |  |  |  |\n",
			"\nWhere there is no figure: MPICH: not installed; Open MPI: did not end.\n", "| 8 B from 256 endpoints of a process, TCP | 0.75 / 1 |\n",
		}},
		{"-rounds 1", []string{"MPICH     not measured ", " not installed\n", " did not end\n", "0.5 us: missed\n"}},
	} {
		var out bytes.Buffer
		if err := scale.Run(t.Context(), append([]string{"-from", file}, strings.Fields(c.flags)...), &out, &out); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.wants {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is not in\n%s", c.flags, want, out.String())
			}
		}
	}
}

func TestBadOptions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"-only nothing": "no row", "-plot " + file: "want a folder", "-quick -rounds 0": "-rounds 0", "all": "unexpected argument",
	} {
		if _, err := scale.Wanted(strings.Fields(line)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", line, err, want)
		}
	}
	_, err := scale.Wanted("-h")
	var help strings.Builder
	if asked, err := cmdline.Answer(&help, err, scale.Help); !asked || err != nil || !strings.Contains(help.String(), "-quick") {
		t.Errorf("-h: %v\n%s", err, help.String())
	}
}
