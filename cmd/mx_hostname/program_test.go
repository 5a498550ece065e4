package main_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"gomx/cmd/internal/tooltest"
)

func TestBoards(t *testing.T) {
	row := regexp.MustCompile(`^Board #\d+ \(\S+ [0-9a-f:]{17}\) +hostname is \S+:\d+$`)
	lines := strings.Split(strings.TrimSuffix(tooltest.Good(t), "\n"), "\n")
	for _, line := range lines {
		if !row.MatchString(line) {
			t.Errorf("%q", line)
		}
	}
	if one := tooltest.Good(t, "-b", "0"); strings.Count(one, "\n") != 1 || !strings.HasPrefix(one, "Board #0 (") {
		t.Errorf("%q", one)
	}
	if long := tooltest.Good(t, "-v"); !strings.Contains(long, "  up  ") || !strings.Contains(long, "127.0.0.1") {
		t.Errorf("%q", long)
	}
}

type entry struct {
	Board     *int
	NICID     string `json:"nic_id"`
	Name      string
	Interface string
}

func decode(t *testing.T, text string) (list []entry) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestLookUp finds each board by its name, its NIC id and, of the host itself, by an address.
func TestLookUp(t *testing.T) {
	all := decode(t, tooltest.Good(t, "-json"))
	for _, want := range all {
		for _, name := range []string{want.Name, want.NICID} {
			got := decode(t, tooltest.Good(t, "-json", "-d", name))
			if len(got) != 1 || got[0].NICID != want.NICID || got[0].Board == nil || *got[0].Board != *want.Board {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
	}
	if text := tooltest.Good(t, "-d", "127.0.0.1"); !strings.Contains(text, "(02:00:7f:00:00:01)") {
		t.Errorf("%q", text)
	}
	if text := tooltest.Good(t, "-d", "198.51.100.7"); text != "Board of another host (02:00:c6:33:64:07)  hostname is 198.51.100.7:0\n" {
		t.Errorf("%q", text)
	}
	if text := tooltest.Good(t, "-d", "0x00a1c6336401"); text != "Board of another host (00:a1:c6:33:64:01)  hostname is 00:a1:c6:33:64:01\n" {
		t.Errorf("%q", text)
	}
}

func TestFailures(t *testing.T) {
	for args, want := range map[string]string{
		"-b 4000":                    "there is no board 4000: this host has boards 0 to ",
		"-b x":                       "want a board number",
		"-d no-such-host.invalid":    ", or use the host's address", // what to do besides depends on whether there is a name server
		"-d no-such-host.invalid -v": "leave -b and -v out",
		"-d=":                        "want a name, an address or a NIC id",
		"-x":                         "-h explains the flags",
	} {
		stdout, stderr, status := tooltest.Run(t, strings.Fields(args)...)
		if status != 1 || stdout != "" || !strings.HasPrefix(stderr, "mx_hostname: ") || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: status %d, %q, %q", args, status, stdout, stderr)
		}
	}
}
