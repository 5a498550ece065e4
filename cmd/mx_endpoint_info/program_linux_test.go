package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"gomx/cmd/internal/built"
	"gomx/mx"
)

// program is the built mx_endpoint_info.
var program string

func TestMain(m *testing.M) { os.Exit(built.Main(m, "mx_endpoint_info", &program)) }

// pid is this process, whose endpoints the program shows.
var pid = strconv.Itoa(os.Getpid())

// good runs the program, which must succeed, and returns what it printed.
func good(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, status := built.Run(t, program, args...)
	if status != 0 || stderr != "" {
		t.Fatalf("%v: status %d, %s", args, status, stderr)
	}
	return stdout
}

// open opens an endpoint with a receive that waits.
func open(t *testing.T) *mx.Endpoint {
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

func TestTable(t *testing.T) {
	ep := open(t)
	text := good(t, "-p", pid)
	names(t, text, " (board #0 name ", "\n===", "endpoint", "transports", "\n1 regular endpoint open\n",
		fmt.Sprintf("%d  %s      0       1        1           0", ep.ID(), pid))
	names(t, good(t, "-p", pid, "-v"), "\nendpoint "+strconv.Itoa(int(ep.ID()))+" of process "+pid+"\n",
		"    recv anyone match 0x12 mask 0xff, 24 bytes: waits for its match, for ")
	names(t, good(t), " "+pid+" ")
}

func TestJSON(t *testing.T) {
	ep := open(t)
	var list []struct {
		PID  int    `json:"pid"`
		Name string `json:"name"`
	}
	if err := json.Unmarshal([]byte(good(t, "-p", pid, "-json")), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].PID != os.Getpid() || list[0].Name != ep.String() {
		t.Errorf("%+v", list)
	}
}

func TestOtherBoard(t *testing.T) {
	open(t)
	if text := good(t, "-p", pid, "-b", "1000"); text != "0 regular endpoints open\n" {
		t.Error(text)
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-p", pid}, "process " + pid + ": it has no endpoint open"},
		{[]string{"-p", "2147483647"}, "process 2147483647: there is no such process"},
		{[]string{"-p", "0"}, "want the number of a process"},
		{[]string{"-b", "x"}, "want a board number"},
		{[]string{"-x"}, "-h explains the flags"},
		{[]string{"more"}, `unexpected argument "more"`},
	} {
		stdout, stderr, status := built.Run(t, program, c.args...)
		if status != 1 || stdout != "" || !strings.HasPrefix(stderr, "mx_endpoint_info: ") || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: status %d, %q, %q", c.args, status, stdout, stderr)
		}
	}
	names(t, good(t, "-h"), "-json", "-b n")
}

// names fails unless the text has all parts.
func names(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}
