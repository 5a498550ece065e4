package newcomer

import (
	"os/exec"
	"path"
	"path/filepath"
	"testing"

	"gomx/internal/toolpage"
)

// figures are those of a row of compare, and one of scale.
const figures = `{"program":"mpi ping-pong 8 B","subject":"gomx","over":"shm","unit":"us","values":[0.1],"cpu_us_per_op":[0.2]}
{"program":"8 B from 256 endpoints of a process, TCP","subject":"gomx","over":"tcp","unit":"us","values":[0.75],"cpu_us_per_op":[1]}
`

// TestTools compares the tools that are not below cmd, whose own tests do that, with their pages.
func TestTools(t *testing.T) {
	t.Parallel()
	long(t)
	fromFigures := []string{"-from figures.json", "-from figures.json -json", "-from figures.json -markdown"}
	tools := map[string][]string{"bench/compare": fromFigures, "bench/scale": fromFigures, "integration/rdmavm": nil}
	bin := t.TempDir()
	build := []string{"build", "-ldflags=-w", "-o", bin}
	for folder := range tools {
		build = append(build, "gomx/"+folder)
	}
	if out, err := exec.Command("go", build...).CombinedOutput(); err != nil {
		t.Fatalf("building the tools: %v\n%s", err, out)
	}
	for folder, lines := range tools {
		t.Run(path.Base(folder), func(t *testing.T) {
			dir := t.TempDir()
			save(t, dir, "figures.json", figures)
			toolpage.Check(t, filepath.Join(bin, path.Base(folder)), checkout, dir, lines...)
		})
	}
}
