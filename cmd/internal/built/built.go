// Package built builds the program of a package under cmd once, for the tests
// that run it as users do.
package built

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Main builds the program of the folder that the test runs in, leaves its path in
// program, runs the tests and returns their exit status. Called by TestMain.
func Main(m *testing.M, name string, program *string) int {
	dir, err := os.MkdirTemp("", name)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	*program = filepath.Join(dir, name)
	// Without the debugger's tables, which take half of the linker's time.
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", *program, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building %s: %v\n%s", name, err, out)
		return 1
	}
	return m.Run()
}
