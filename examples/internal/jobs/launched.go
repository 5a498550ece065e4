package jobs

import (
	"bytes"
	"context"
	"io"
	"os"
	"runtime"
	"sync"
	"testing"

	"gomx/mpi/launch/spawn"
)

// asExample names the variable that makes the binary of a test the example that it tests.
const asExample = "GOMX_TEST_EXAMPLE"

// Main is for TestMain of an example that Launched starts: the binary of the test is the example as well, so that nothing has to be built
// and linked a second time. It returns the exit status.
func Main(m *testing.M, main func()) int {
	if os.Getenv(asExample) == "" {
		return m.Run()
	}
	main()
	return 0
}

// output takes what several ranks write.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

// Launched runs the example that is tested as so many processes, started as mx_run does, and returns what they have written. The test fails
// if they don't end well.
func Launched(t testing.TB, ranks int, args ...string) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("processes exchange messages on Linux only")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	var said output
	to := func(int) io.Writer { return &said }
	err = spawn.Run(ctx, &spawn.Plan{
		Ranks: ranks, Program: append([]string{self}, args...), Env: append(os.Environ(), asExample+"=1"), Stdout: to, Stderr: to,
	})
	if err != nil {
		t.Fatalf("%d processes, %q: %v\n%s", ranks, args, err, said.text.String())
	}
	return said.text.String()
}
