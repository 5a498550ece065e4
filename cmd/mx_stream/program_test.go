package main_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"gomx/bench/pingpong"
	"gomx/cmd/internal/tooltest"
	"gomx/mx"
)

// usable returns the transports between two processes that work here.
func usable() (names []string) {
	for _, t := range mx.Transports() {
		if t.Available && t.Name != "self" && t.Name != "mem" {
			names = append(names, t.Name)
		}
	}
	return append(names, "mem")
}

func TestTable(t *testing.T) {
	total := regexp.MustCompile(`\n {9}Length  Bandwidth\(MB/s\)  Messages/s\nTotal: {5}8192 +\d+\.\d{3} +\d+\n$`)
	both := regexp.MustCompile(`\nSend: +8192 .*\nRecv: +8192 .*\nTotal: +8192 .*\nSend: +9 .*\nRecv: +9 .*\nTotal: +9 .*\n$`)
	for _, transport := range usable() {
		if text := tooltest.Good(t, "-N", "100", "-transport", transport); !total.MatchString(text) {
			t.Errorf("%s: %q", transport, text)
		}
		if text := tooltest.Good(t, "-N", "100", "-V", "-x", "-l", "8192,9", "-transport", transport); !both.MatchString(text) {
			t.Errorf("%s: %q", transport, text)
		}
	}
}

func TestJSON(t *testing.T) {
	var r pingpong.Result
	text := tooltest.Good(t, "-N", "50", "-json", "-x", "-inflight", "3", "-l", "100000", "-transport", "mem")
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if r.Length != 100_000 || r.Iterations != 50 || r.Window != 3 || r.Send.Bandwidth <= 0 || r.Receive.Bandwidth <= 0 || r.Bandwidth <= r.Send.Bandwidth {
		t.Errorf("%s", text)
	}
}

func TestFailures(t *testing.T) {
	for args, want := range map[string]string{
		"-x -zz":                     "-h explains the flags",
		"-l 8,":                      "want lengths in bytes",
		"-l 1073741824":              "take fewer, or shorter ones",
		"-l 1073741825 -inflight 1":  "lengths are 0 to 1073741824 bytes",
		"-l 8,2147483648":            "lengths are 0 to 1073741824 bytes",
		"-l 99999999999999999999":    "lengths are 0 to 1073741824 bytes",
		"-inflight 0":                "want a number above 0",
		"-N 0":                       "want a number above 0",
		"-W -1":                      "want 0 or more",
		"-transport self":            "take mem",
		"-transport pigeon":          "what can be used here",
		"-s -l 8":                    "takes its orders from the sender",
		"-b 1 -n 1":                  "exclude each other",
		"-d no.such.host.invalid":    "no.such.host.invalid",
		"-d localhost -b 0 -r 4095 ": "start a receiver there: mx_stream -s -e 4095",
	} {
		stdout, stderr, status := tooltest.Run(t, strings.Fields(args)...)
		if status != 1 || stdout != "" || !strings.HasPrefix(stderr, "mx_stream: ") || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q, %q", args, status, stdout, stderr)
		}
	}
}
