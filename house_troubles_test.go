package gomx_test

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

const troubleshooting = "docs/troubleshooting.md"

var (
	messageBlock = regexp.MustCompile("(?s)```text\n(.*?)```\n")
	testLine     = regexp.MustCompile(`(?m)^Test: `)
	partPattern  = regexp.MustCompile(`[:,] `) // what is often put together of several
	verbPattern  = regexp.MustCompile(`%[a-z]`)
)

// TestTroublesNameTheirTests: each section of docs/troubleshooting.md shows a message and names a test that there is.
// integration/newcomer compares the messages of its own test with what is printed; those of other tests must stand in
// the program.
func TestTroublesNameTheirTests(t *testing.T) {
	h := theHouse(t)
	sections := strings.Split(read(t, troubleshooting), "\n## ")[1:]
	if len(sections) == 0 {
		t.Fatalf("%s has no sections", troubleshooting)
	}
	for _, section := range sections {
		title, _, _ := strings.Cut(section, "\n")
		message := messageBlock.FindStringSubmatch(section)
		line := testLine.FindStringIndex(section)
		if message == nil || line == nil {
			t.Errorf("%s: %q shows no message, or names no test", troubleshooting, title)
			continue
		}
		named := testPattern.FindAllStringSubmatch(section[line[0]:], -1)
		if len(named) == 0 {
			t.Errorf("%s: %q names no test", troubleshooting, title)
		}
		for _, m := range named {
			if !h.hasTest(m[1], m[2]) {
				t.Errorf("%s: %q names %s of %s, which does not exist", troubleshooting, title, m[2], m[1])
			}
		}
		if !strings.Contains(section, "`integration/newcomer TestTroubles`") {
			h.checkMessage(t, title, strings.Join(strings.Fields(message[1]), " "))
		}
	}
}

// checkMessage looks for the parts of a message in the program, where verbs stand for what differs.
func (h *house) checkMessage(t *testing.T, title, message string) {
	for part := range strings.SplitSeq(partPattern.ReplaceAllString(message, "…"), "…") {
		found := false
		for _, f := range h.program() {
			if path.Ext(f.path) != ".go" {
				continue
			}
			for _, literal := range verbPattern.Split(read(t, f.path), -1) {
				found = found || strings.Contains(literal, strings.TrimSpace(part))
			}
			if found {
				break
			}
		}
		if !found {
			t.Errorf("%s: %q: the program does not say %q", troubleshooting, title, part)
		}
	}
}
