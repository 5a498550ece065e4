package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sync"
	"testing"
)

// built are the programs that this process has built. All its tests use the same.
var built struct {
	mu    sync.Mutex
	dir   string
	names map[string]bool
}

// Build builds programs of the house, named by their folders, unless that was done before, and returns the folder with their
// files. It is there until the process ends, whose TestMain calls Main.
func Build(t testing.TB, names ...string) (dir string) {
	t.Helper()
	dir, err := buildOnce(names)
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("needs the go command to build the programs: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func buildOnce(names []string) (dir string, err error) {
	built.mu.Lock()
	defer built.mu.Unlock()
	if built.dir == "" {
		if built.dir, err = os.MkdirTemp("", "gomx-programs-"); err != nil {
			return "", err
		}
		built.names = map[string]bool{}
	}
	command := []string{"build", "-ldflags=-w", "-o", built.dir + string(filepath.Separator)}
	var lacking []string
	for _, name := range names {
		if !built.names[name] {
			lacking = append(lacking, name)
			command = append(command, path.Join("gomx", name))
		}
	}
	if len(lacking) == 0 {
		return built.dir, nil
	}
	if out, err := exec.Command("go", command...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %v: %w: %s", lacking, err, out)
	}
	for _, name := range lacking {
		built.names[name] = true
	}
	return built.dir, nil
}

// removeBuilt removes what Build has built.
func removeBuilt() {
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
}
