package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
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

// subject is what does the rows: a version of gomx, an MPI, or gomx's program over sockets of the system.
type subject struct {
	name   string
	folder string    // with its programs
	over   string    // the sockets that its programs are told to use: tcp or unix
	mpi    *mpis.MPI // nil for gomx
}

// does reports whether a subject has a part in a row.
func (s *subject) does(r row) bool {
	switch {
	case s.mpi != nil:
		return r.mpis
	case s.over != "":
		return r.sockets
	}
	return true
}

// wanted are the rows that are to be measured.
func (c *comparison) wanted() []row {
	return slices.DeleteFunc(rows(c.scale), func(r row) bool {
		return !c.only.MatchString(r.name) || r.more && c.only.String() == "" || slices.Contains(c.lacking, r.program)
	})
}

// build makes the programs of the wanted rows. What this machine lacks is told to the log and left out.
func (c *comparison) build(ctx context.Context) error {
	module, err := modulePath(ctx)
	if err != nil {
		return err
	}
	programs := []string{}
	if c.busy {
		programs = append(programs, neighbour)
	}
	for _, r := range c.wanted() {
		programs = append(programs, r.program)
	}
	slices.Sort(programs)
	programs, err = c.available(ctx, module, slices.Compact(programs))
	if err != nil {
		return err
	}
	ours := &subject{name: "gomx", folder: filepath.Join(c.dir, "ours")}
	if err := buildGo(ctx, module, module, ours.folder, programs); err != nil {
		return err
	}
	c.subjects = append(c.subjects, ours)
	if c.against != "" {
		there, err := filepath.Abs(c.against)
		if err != nil {
			return err
		}
		older := &subject{name: filepath.Base(there), folder: filepath.Join(c.dir, "against")}
		if err := buildGo(ctx, module, there, older.folder, programs); err != nil {
			return err
		}
		c.subjects = append(c.subjects, older)
	}
	for _, over := range []string{"tcp", "unix"} {
		c.subjects = append(c.subjects, &subject{name: over, folder: ours.folder, over: over})
	}
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

// writeOverlay writes what has the go tool see the programs, and what they are made of, inside another checkout. Those that are
// modules of their own stay where they are.
func writeOverlay(sources, module, file string) error {
	replace := map[string]string{}
	for _, below := range []string{room, other} {
		err := filepath.WalkDir(filepath.Join(sources, below), func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && below == room && ownModule(sources, d.Name()) {
				return filepath.SkipDir
			}
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
