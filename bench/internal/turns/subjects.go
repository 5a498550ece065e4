package turns

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"gomx/bench/internal/child"
	"gomx/bench/internal/mpis"
)

// buildTimeout bounds each compilation.
const buildTimeout = 5 * time.Minute

// ordinary is the folder of the programs, and others are what else they are made of that another checkout may not have.
const ordinary = "bench/ordinary"

var others = []string{"bench/usage", "bench/internal/figure"}

// Names of subjects.
const (
	GomxName = "gomx"
	TCPName  = "TCP"
	UnixName = "Unix socket"
)

// subject is what does the rows: a version of gomx, an MPI, a program of the system's sockets, or one without any library.
type subject struct {
	name     string
	folder   string    // with its programs
	sockets  string    // those of the system that the programs are told to use: tcp or unix
	mpi      *mpis.MPI // nil for others
	bare     bool      // nothing but the medium
	perftest *perftest // likewise, over RDMA

	absence error // why it is not there
}

// ours reports whether it is a version of gomx.
func (s *subject) ours() bool {
	return s.mpi == nil && s.sockets == "" && !s.bare && s.perftest == nil
}

// does reports whether a subject has a part in a row, over what is asked for.
func (s *subject) does(r Row, over string) bool {
	switch {
	case s.mpi != nil:
		return r.MPIs
	case s.sockets != "":
		return r.Sockets
	case s.perftest != nil:
		return r.Traffic == s.perftest.traffic
	case s.bare:
		return r.Traffic == Pings && s.name == BareName[r.medium(over)]
	}
	return true
}

// build makes the programs of the wanted rows. What this machine lacks is told to the log and left out.
func (c *comparison) build(ctx context.Context) error {
	folder, made := filepath.Join(c.dir, "programs"), false
	if c.programs != "" {
		_, err := os.Stat(c.programs)
		folder, made = c.programs, err == nil
	}
	c.subjects = []*subject{{name: GomxName, folder: folder}}
	module := ""
	if made {
		c.missing(folder)
	} else {
		var err error
		if module, err = ModulePath(ctx); err != nil {
			return err
		}
		if err := c.buildOurs(ctx, module, folder); err != nil {
			return err
		}
	}
	for _, s := range c.counterparts() {
		if err := s.locate(made); err != nil {
			fmt.Fprintf(c.log, "%s: %v; left out\n", s.name, err)
			s.absence = err
			c.absent = append(c.absent, s)
			continue
		}
		s.folder = folder
		if s.mpi != nil && !made {
			if err := s.compile(ctx, filepath.Join(module, ordinary, "peers")); err != nil {
				return err
			}
		}
		c.subjects = append(c.subjects, s)
	}
	return nil
}

// missing takes down which programs are not in a folder that was made earlier.
func (c *comparison) missing(folder string) {
	for _, r := range c.wanted() {
		if _, err := os.Stat(filepath.Join(folder, r.Program)); err != nil && !slices.Contains(c.lacking, r.Program) {
			fmt.Fprintf(c.log, "%s: %v; left out\n", r.Program, err)
			c.lacking = append(c.lacking, r.Program)
		}
	}
}

// buildOurs builds the programs in Go, and with -against once more in the other checkout.
func (c *comparison) buildOurs(ctx context.Context, module, folder string) error {
	programs := []string{}
	if c.busy {
		programs = append(programs, neighbour)
	}
	for _, r := range c.wanted() {
		programs = append(programs, r.Program)
		if r.Traffic == Pings && runtime.GOOS == "linux" {
			programs = append(programs, bareProgram)
		}
	}
	slices.Sort(programs)
	programs, err := c.available(ctx, module, slices.Compact(programs))
	if err != nil {
		return err
	}
	if err := buildGo(ctx, module, module, folder, programs); err != nil || c.against == "" {
		return err
	}
	there, err := filepath.Abs(c.against)
	if err != nil {
		return err
	}
	older := &subject{name: filepath.Base(there), folder: filepath.Join(c.dir, "against")}
	c.subjects = append(c.subjects, older)
	return buildGo(ctx, module, there, older.folder, programs)
}

// counterparts are what gomx is measured beside, as far as a wanted row has to do with them.
func (c *comparison) counterparts() (all []*subject) {
	for _, m := range mpis.Known() {
		all = append(all, &subject{name: m.Title, mpi: m})
	}
	all = append(all, &subject{name: TCPName, sockets: TCP}, &subject{name: UnixName, sockets: "unix"})
	switch {
	case c.over == RDMA:
		all = append(all, perftests(c.rig)...)
	case runtime.GOOS == "linux":
		all = append(all, &subject{name: BareName[SHM], bare: true}, &subject{name: BareName[TCP], bare: true})
	}
	return slices.DeleteFunc(all, func(s *subject) bool {
		return !slices.ContainsFunc(c.wanted(), func(r Row) bool { return s.does(r, c.over) })
	})
}

// locate returns nil, or what this machine lacks for a subject whose programs are made already, or have to be.
func (s *subject) locate(made bool) error {
	switch {
	case s.perftest != nil:
		return s.perftest.locate()
	case s.mpi != nil && made:
		return s.mpi.LocateLauncher()
	case s.mpi != nil:
		return s.mpi.Locate()
	}
	return nil
}

// program is the file of a program. Those of MPIs lie beside the others.
func (s *subject) program(name string) string {
	if s.mpi != nil {
		name += "." + s.mpi.Name
	}
	return filepath.Join(s.folder, name)
}

func (s *subject) compile(ctx context.Context, source string) error {
	files, err := filepath.Glob(filepath.Join(source, "*.c"))
	if err == nil && len(files) == 0 {
		err = errors.New("no programs in C in " + source)
	}
	for _, file := range files {
		err = errors.Join(err, s.mpi.Compile(ctx, file, s.program(strings.TrimSuffix(filepath.Base(file), ".c"))))
	}
	return err
}

// ModulePath is the folder of the checkout that this program belongs to.
func ModulePath(ctx context.Context) (string, error) {
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
	for _, below := range append([]string{ordinary}, others...) {
		err := filepath.WalkDir(filepath.Join(sources, below), func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && below == ordinary && ownModule(sources, d.Name()) {
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

// bareProgram does a ping-pong with nothing but the medium.
const bareProgram = "bare_pingpong"

// BareName is the name that it has in tables, by the medium.
var BareName = map[string]string{SHM: "memory alone", TCP: "socket alone"}
