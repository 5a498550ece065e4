package turns

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"

	"gomx/bench/internal/child"
)

// ownModule reports whether a program is a module of its own, because it needs modules that users of gomx do not.
func ownModule(module, program string) bool {
	_, err := os.Stat(filepath.Join(module, ordinary, program, "go.mod"))
	return err == nil
}

// available returns the programs that can be built here. Those whose modules can't be had are told to the log, and left out.
func (c *comparison) available(ctx context.Context, module string, programs []string) ([]string, error) {
	for _, program := range programs {
		if !ownModule(module, program) {
			continue
		}
		err := runGo(ctx, filepath.Join(module, ordinary, program), "mod", "download")
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			fmt.Fprintf(c.log, "%s: %v; left out\n", program, err)
			c.lacking = append(c.lacking, program)
		}
	}
	return slices.DeleteFunc(programs, func(p string) bool { return slices.Contains(c.lacking, p) }), nil
}

// buildGo builds programs, and the launcher of ranks, inside the module there, which may be another checkout than the one with
// the programs' sources. It does as a user would, with nothing but the name of the package; of another checkout the go
// tool is shown the sources where they would be.
func buildGo(ctx context.Context, sources, there, to string, programs []string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	args := []string{"build", "-o", to}
	if sources != there {
		overlay := to + ".json"
		if err := writeOverlay(sources, there, overlay); err != nil {
			return err
		}
		args = append(args, "-overlay", overlay)
	}
	packages := []string{"./cmd/mx_run"}
	for _, program := range programs {
		if !ownModule(sources, program) {
			packages = append(packages, "./"+path.Join(ordinary, program))
		} else if err := buildOwn(ctx, sources, there, program, args); err != nil {
			return fmt.Errorf("building %s for %s: %w", program, there, err)
		}
	}
	if err := runGo(ctx, there, append(slices.Clone(args), packages...)...); err != nil {
		return fmt.Errorf("building the programs in %s: %w", there, err)
	}
	return nil
}

// buildOwn builds a program that is a module of its own with the gomx of the module there.
func buildOwn(ctx context.Context, sources, there, program string, args []string) error {
	folder := filepath.Join(sources, ordinary, program)
	if sources == there {
		return runGo(ctx, folder, append(slices.Clone(args), ".")...)
	}
	temporary, err := os.MkdirTemp("", "gomx-ordinary-module-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(temporary, name), text, 0o600); err != nil {
			return err
		}
	}
	changed := filepath.Join(temporary, "go.mod")
	if err := runGo(ctx, folder, "mod", "edit", "-replace", "gomx="+there, changed); err != nil {
		return err
	}
	return runGo(ctx, folder, append(slices.Clone(args), "-modfile", changed, "-mod", "mod", ".")...)
}

func runGo(ctx context.Context, folder string, args ...string) error {
	tool, err := exec.LookPath("go")
	if err != nil {
		return err
	}
	_, _, err = child.Run(ctx, child.Command{Path: tool, Args: args, Dir: folder, Timeout: buildTimeout})
	return err
}
