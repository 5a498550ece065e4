package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gomx/bench/internal/child"
	"gomx/bench/internal/mpis"
)

// buildTimeout bounds each compilation.
const buildTimeout = 5 * time.Minute

// room is where the programs lie, and others what else they are made of that another checkout may not have.
const (
	room  = "bench/ordinary"
	other = "bench/usage"
)

//go:embed peers
var peers embed.FS

// subject is what does the rows: a version of gomx, an MPI, or gomx's program over TCP.
type subject struct {
	name   string
	folder string    // with its programs
	tcp    bool      // its programs are told to use TCP
	mpi    *mpis.MPI // nil for gomx
}

// does reports whether a subject has a part in a row.
func (s *subject) does(r row) bool {
	switch {
	case s.mpi != nil:
		return r.mpis
	case s.tcp:
		return r.tcp
	}
	return true
}

// wanted are the rows that are to be measured.
func (c *comparison) wanted() []row {
	return slices.DeleteFunc(rows(c.scale), func(r row) bool {
		return !c.only.MatchString(r.name) || r.more && c.only.String() == ""
	})
}

// build makes the programs of the wanted rows. What this machine lacks is told to the log and left out.
func (c *comparison) build(ctx context.Context) error {
	module, err := modulePath(ctx)
	if err != nil {
		return err
	}
	packages := []string{"./cmd/mx_run"}
	if c.busy {
		packages = append(packages, "./"+path.Join(room, neighbour))
	}
	for _, r := range c.wanted() {
		packages = append(packages, "./"+path.Join(room, r.program))
	}
	slices.Sort(packages)
	packages = slices.Compact(packages)
	ours := &subject{name: "gomx", folder: filepath.Join(c.dir, "ours")}
	if err := buildGo(ctx, module, module, ours.folder, packages); err != nil {
		return err
	}
	c.subjects = append(c.subjects, ours)
	if c.against != "" {
		there, err := filepath.Abs(c.against)
		if err != nil {
			return err
		}
		older := &subject{name: filepath.Base(there), folder: filepath.Join(c.dir, "against")}
		if err := buildGo(ctx, module, there, older.folder, packages); err != nil {
			return err
		}
		c.subjects = append(c.subjects, older)
	}
	c.subjects = append(c.subjects, &subject{name: "tcp", folder: ours.folder, tcp: true})
	if !slices.ContainsFunc(c.wanted(), func(r row) bool { return r.mpis }) {
		return nil
	}
	source := filepath.Join(c.dir, "source")
	if err := os.CopyFS(source, peers); err != nil {
		return err
	}
	for _, m := range mpis.Known() {
		if err := m.Locate(); err != nil {
			fmt.Fprintf(c.log, "%s: %v; left out\n", m.Name, err)
			continue
		}
		s := &subject{name: m.Name, folder: filepath.Join(c.dir, m.Name), mpi: m}
		if err := s.compile(ctx, filepath.Join(source, "peers")); err != nil {
			return err
		}
		c.subjects = append(c.subjects, s)
	}
	return nil
}

func (s *subject) compile(ctx context.Context, source string) error {
	if err := os.Mkdir(s.folder, 0o700); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(source, "*.c"))
	if err != nil {
		return err
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".c")
		if err := s.mpi.Compile(ctx, file, filepath.Join(s.folder, name)); err != nil {
			return err
		}
	}
	return nil
}

// modulePath is the folder of the checkout that this program belongs to.
func modulePath(ctx context.Context) (string, error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return "", err
	}
	list := child.Command{Path: tool, Args: []string{"list", "-m", "-f", "{{.Dir}}", "gomx"}, Timeout: buildTimeout}
	out, _, err := child.Run(ctx, list)
	if err != nil {
		return "", fmt.Errorf("run this inside the module: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// buildGo builds the programs of one checkout inside another one, or inside the same, as a user would: with nothing
// but the name of the package. The go tool is shown the sources where the other checkout would have them.
func buildGo(ctx context.Context, sources, module, to string, packages []string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		return err
	}
	args := []string{"build", "-o", to}
	if sources != module {
		overlay := to + ".json"
		if err := writeOverlay(sources, module, overlay); err != nil {
			return err
		}
		args = append(args, "-overlay", overlay)
	}
	build := child.Command{Path: tool, Args: append(args, packages...), Dir: module, Timeout: buildTimeout}
	if _, _, err := child.Run(ctx, build); err != nil {
		return fmt.Errorf("building the programs in %s: %w", module, err)
	}
	return nil
}

// writeOverlay writes what has the go tool see the programs, and what they are made of, inside another checkout.
func writeOverlay(sources, module, file string) error {
	replace := map[string]string{}
	for _, below := range []string{room, other} {
		err := filepath.WalkDir(filepath.Join(sources, below), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
				return err
			}
			rest, err := filepath.Rel(sources, name)
			replace[filepath.Join(module, rest)] = name
			return err
		})
		if err != nil {
			return err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}
