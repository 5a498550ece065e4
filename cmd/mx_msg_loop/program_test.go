package main

import (
	"encoding/json"
	"strings"
	"testing"

	"gomx/cmd/internal/tooltest"
	"gomx/internal/testlength"
)

// TestLoop sends over each transport that works here.
func TestLoop(t *testing.T) {
	testlength.Long(t)
	for _, args := range []string{"-M 3", "-u -P 16 -M 4", "-s -alloc -R -seed 7 -P 5 -M 4", "-f -E 20 -I 1 -a 4000 -A 4002 -N 3"} {
		words := append(strings.Fields(args), "-json")
		if !strings.Contains(args, "-E") {
			words = append(words, "-E", "200000", "-A", "3")
		}
		decoder := json.NewDecoder(strings.NewReader(tooltest.Good(t, words...)))
		var names []string
		for decoder.More() {
			var sum total
			if err := decoder.Decode(&sum); err != nil {
				t.Fatal(err)
			}
			if sum.Errors != 0 || sum.Messages < 90 || sum.Longest < 19 || sum.Bytes < sum.Messages {
				t.Errorf("%s: %+v", args, sum)
			}
			names = append(names, sum.Transport)
		}
		if all := strings.Join(names, " "); !strings.HasPrefix(all, "self mem") {
			t.Errorf("%s went over %s", args, all)
		}
	}
}

func TestTable(t *testing.T) {
	text := tooltest.Good(t, "-transport", "mem", "-E", "100", "-I", "33", "-A", "2")
	want := "transport      messages           bytes    longest    errors\nmem                  16             792         99         0\n"
	if text != want {
		t.Errorf("%q", text)
	}
}

func TestTime(t *testing.T) {
	stdout, stderr, status := tooltest.Run(t, "-for", "100ms", "-v", "-i", "10ms", "-transport", "self")
	if status != 0 || strings.Count(stdout, "\n") != 2 || !strings.Contains(stderr, "self: length ") {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
}

func TestBadInput(t *testing.T) {
	for args, want := range map[string]string{
		"-zz":                   "-h explains the flags",
		"-E 1073741824 -P 3":    "take fewer at a time, or shorter ones",
		"-E 1073741825":         "1 GiB",
		"-a 8":                  "want alignments from 0 to 4096",
		"-A 4097":               "want alignments from 0 to 4096",
		"-P 0":                  "from 1 to 128",
		"-P 129":                "from 1 to 128",
		"-N -1":                 "want 0 or more",
		"-I 1 -M 2":             "exclude each other",
		"-I 0":                  "want a number above 0",
		"-seed 3":               "without -R",
		"-i 1s":                 "without -v",
		"-for 0s":               "durations above 0",
		"-t 0s":                 "durations above 0",
		"-transport pigeon":     "what can be used here: ",
		"-transport mem,pigeon": "what can be used here: ",
	} {
		stdout, stderr, status := tooltest.Run(t, strings.Fields(args)...)
		if status != 1 || stdout != "" || !strings.HasPrefix(stderr, "mx_msg_loop: ") || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q, %q", args, status, stdout, stderr)
		}
	}
}
