// Package tooltest lets the tests of a command run it as users do, as a process of its own. The test's binary is that
// program when it is called by the program's name, so that nothing has to be built and linked a second time.
package tooltest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Path is the file to execute, named as the command is. Main sets it.
var Path string

// Is tells whether this process was started as the command of that name, and not as its test.
func Is(name string) bool {
	called := filepath.Base(os.Args[0])
	return strings.TrimSuffix(called, ".exe") == name
}

// Main runs the command if this process was started by its name, and does not return from that. Otherwise it copies
// its own binary to a file of that name, leaves its path in Path, runs the tests and returns their exit status. Called by
// TestMain.
func Main(m *testing.M, name string, main func()) int {
	if Is(name) {
		main()
		os.Exit(0)
	}
	_ = flag.Set("test.parallel", "6") // unless the command line says otherwise: tests that run beside others wait most of the time
	dir, err := os.MkdirTemp("", name)
	if err == nil {
		defer os.RemoveAll(dir)
		err = copySelf(filepath.Join(dir, name))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "making the test's binary %s: %v\n", name, err)
		return 1
	}
	return m.Run()
}

// copySelf makes Path a copy of the running binary. It is no link, because a program that starts itself again asks the system
// for its path, which would be that of the test.
func copySelf(path string) error {
	if filepath.Ext(os.Args[0]) == ".exe" {
		path += ".exe"
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	Path = path
	return os.WriteFile(path, text, 0o700)
}
