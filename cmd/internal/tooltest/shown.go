package tooltest

import (
	"os"
	"strconv"
	"testing"

	"gomx/mx"
)

// PID is this process, whose endpoints programs show.
var PID = strconv.Itoa(os.Getpid())

// Good runs the program, which must succeed and complain of nothing, and returns what it printed.
func Good(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, status := Run(t, args...)
	if status != 0 || stderr != "" {
		t.Fatalf("%v: status %d, %s", args, status, stderr)
	}
	return stdout
}

// Open opens an endpoint with a receive of 24 bytes that waits, for match information 0x12 in the lower 8 bits. It is
// closed when the test is over.
func Open(t *testing.T) *mx.Endpoint {
	t.Helper()
	if err := mx.Init(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := mx.Finalize(); err != nil {
			t.Error(err)
		}
	})
	ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, 7)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ep.Close() })
	if _, err := ep.Irecv(make([]byte, 24), 0x12, 0xff, nil); err != nil {
		t.Fatal(err)
	}
	return ep
}
