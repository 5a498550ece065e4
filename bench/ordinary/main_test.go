package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestOnce runs every program once with small counts. That figures come out is what counts, not which.
func TestOnce(t *testing.T) { tryRows(t, "", 1) }

// TestAgainst has some of them built inside another checkout as well, which is a copy of this one.
func TestAgainst(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the library a second time")
	}
	tryRows(t, "SingleThreaded", 2, "-against", copyOfTheModule(t))
}

// tryRows wants a figure of each row that matches, by each of so many versions of gomx.
func tryRows(t *testing.T, only string, versions int, more ...string) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux: processes of one host talk over shared memory")
	}
	if runtime.NumCPU() < 2 {
		t.Skip("this machine has one core, and ranks that never sleep need one each")
	}
	args := append([]string{"-rounds", "1", "-scale", "200", "-timeout", "2m", "-json", "-only", only}, more...)
	var out, said bytes.Buffer
	if err := ordinary(t.Context(), args, &out, &said); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	t.Log(said.String())
	seen := map[string]int{}
	for text := range bytes.Lines(out.Bytes()) {
		var l struct {
			Program, Subject string
			Values           []float64
			CPU              []float64 `json:"cpu_us_per_op"`
		}
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(err)
		}
		if len(l.Values) != 1 || len(l.CPU) != 1 {
			t.Errorf("%s, %s: %v, %v", l.Program, l.Subject, l.Values, l.CPU)
		}
		if l.Subject != "tcp" && !strings.Contains(l.Subject, "mpi") {
			seen[l.Program]++
		}
	}
	for _, r := range rows(1) {
		if regexp.MustCompile(only).MatchString(r.name) && seen[r.name] != versions {
			t.Errorf("%s: %d figures of gomx", r.name, seen[r.name])
		}
	}
}

// copyOfTheModule is a folder whose entries are those of this checkout, but for bench, so that the programs and what
// they are made of have to come from here.
func copyOfTheModule(t *testing.T) string {
	t.Helper()
	module, err := modulePath(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	there := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "cmd/mx_run", "cmd/internal", "endpoint", "exs", "match", "mpi", "mx", "transport", "unexpected"} {
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

func TestSum(t *testing.T) {
	value, cpu, err := sum([]byte("{\"value\":2.5,\"ops\":4,\"cpu_us\":6}\n{\"value\":0,\"ops\":0,\"cpu_us\":2}\n"))
	if err != nil || value != 2.5 || cpu != 2 {
		t.Errorf("%v, %v, %v", value, cpu, err)
	}
	for _, bad := range []string{"", "hello\n", "{\"value\":0,\"ops\":0,\"cpu_us\":2}\n"} {
		if _, _, err := sum([]byte(bad)); err == nil {
			t.Errorf("%q is a figure", bad)
		}
	}
}
