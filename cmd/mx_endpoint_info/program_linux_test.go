package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"gomx/cmd/internal/tooltest"
	"gomx/mx"
)

func TestTable(t *testing.T) {
	ep := tooltest.Open(t)
	text := tooltest.Good(t, "-p", tooltest.PID)
	names(t, text, " (board #0 name ", "\n===", "endpoint", "transports", "\n1 regular endpoint open\n",
		fmt.Sprintf("%d  %s      0       1        1           0", ep.ID(), tooltest.PID))
	names(t, tooltest.Good(t, "-p", tooltest.PID, "-v"), "\nendpoint "+strconv.Itoa(int(ep.ID()))+" of process "+tooltest.PID+"\n",
		"    recv anyone match 0x12 mask 0xff, 24 bytes: waits for its match, for ")
	names(t, tooltest.Good(t), " "+tooltest.PID+" ")
}

func TestJSON(t *testing.T) {
	ep := tooltest.Open(t)
	var list []struct {
		PID  int    `json:"pid"`
		Name string `json:"name"`
	}
	if err := json.Unmarshal([]byte(tooltest.Good(t, "-p", tooltest.PID, "-json")), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].PID != os.Getpid() || list[0].Name != ep.String() {
		t.Errorf("%+v", list)
	}
}

func TestOtherBoard(t *testing.T) {
	tooltest.Open(t)
	boards, err := mx.Boards()
	if err != nil {
		t.Fatal(err)
	}
	if len(boards) < 2 {
		t.Skip("this host has one board: a network interface with an address would make another")
	}
	if text := tooltest.Good(t, "-p", tooltest.PID, "-b", strconv.Itoa(len(boards)-1)); text != "0 regular endpoints open\n" {
		t.Error(text)
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-p", tooltest.PID}, "process " + tooltest.PID + ": it has no endpoint open"},
		{[]string{"-p", "2147483647"}, "process 2147483647: there is no such process"},
		{[]string{"-p", "0"}, "want the number of a process"},
		{[]string{"-b", "x"}, "want a board number"},
		{[]string{"-b", "4000"}, "there is no board 4000: this host has boards 0 to "},
		{[]string{"-x"}, "-h explains the flags"},
		{[]string{"more"}, `unexpected argument "more"`},
	} {
		stdout, stderr, status := tooltest.Run(t, c.args...)
		if status != 1 || stdout != "" || !strings.HasPrefix(stderr, "mx_endpoint_info: ") || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: status %d, %q, %q", c.args, status, stdout, stderr)
		}
	}
	names(t, tooltest.Good(t, "-h"), "-json", "-b n")
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

func TestContexts(t *testing.T) {
	tooltest.Open(t)
	ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, 1, mx.WithTransports("mem"), mx.WithContexts(2, "control", "data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ep.Close() })
	names(t, tooltest.Good(t, "-p", tooltest.PID, "-v"), "\n3 regular endpoints open\n",
		fmt.Sprintf(" %d.0  %s ", ep.ID(), tooltest.PID), fmt.Sprintf(" %d.1  %s ", ep.ID(), tooltest.PID),
		fmt.Sprintf("\nendpoint %d.1 (context data) of process %s\n", ep.ID(), tooltest.PID))
}
