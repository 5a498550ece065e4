// Package toolpage compares a tool with its page in docs/tools: what -h and completion say with the options of the page, and what happens
// when the disk is full.
package toolpage

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// sections of a page, in their order.
var sections = []string{"Synopsis", "Description", "Options", "Environment", "Exit status", "Examples", "See also"}

// patience bounds a run of a tool.
const patience = time.Minute

// Check compares the tool that is the file at a path with its page. checkout is the root of the module. The lines are command lines of
// the tool that print something, in the folder dir.
func Check(t *testing.T, tool, checkout, dir string, lines ...string) {
	t.Helper()
	name := filepath.Base(tool)
	page, err := os.ReadFile(filepath.Join(checkout, "docs", "tools", name+".md"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(checkout, "docs", "tools", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(list), "]("+name+".md)") {
		t.Error("docs/tools/README.md does not list it")
	}
	checkSections(t, string(page))
	want, got := ofHelp(prints(t, tool, "-h")), ofPage(string(page))
	for _, option := range slices.Sorted(maps.Keys(want)) {
		if got[option] != want[option] {
			t.Errorf("%s\n-h says   %q\nits page says %q", option, want[option], got[option])
		}
		delete(got, option)
	}
	if len(got) > 0 {
		t.Errorf("the page has options that -h has not: %v", got)
	}
	checkCompletion(t, prints(t, tool, "-completion", "fish"), want)
	if v := prints(t, tool, "-version"); !strings.HasPrefix(v, name+" of gomx ") {
		t.Errorf("-version prints %q", v)
	}
	checkFullDisk(t, tool, dir, lines)
}

// prints runs a tool, which must succeed, and returns what it prints.
func prints(t *testing.T, tool string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, tool, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", tool, args, err, out)
	}
	return string(out)
}

func checkSections(t *testing.T, page string) {
	t.Helper()
	var found []string
	for line := range strings.Lines(page) {
		if heading, is := strings.CutPrefix(line, "## "); is {
			found = append(found, strings.TrimSpace(heading))
		}
	}
	if !slices.Equal(found, sections) {
		t.Errorf("the page has the sections %q, want %q", found, sections)
	}
}

var (
	helpOption = regexp.MustCompile(`^ {2,4}-([A-Za-z][A-Za-z0-9]*)(?: (\S+))?(?:$|(?: {2,}|\t)(.*))`)
	helpMore   = regexp.MustCompile(`^( {5,}| *\t)\s*\S`)
	pageOption = regexp.MustCompile("^- `-([^ `]+)(?: ([^`]*))?`: (.*)")
)

// ofHelp returns the options of a help text, each with its value, and what is said of it.
func ofHelp(help string) map[string]string { return read(help, helpOption, helpMore) }

// ofPage returns those of a page.
func ofPage(page string) map[string]string {
	_, rest, _ := strings.Cut(page, "\n## Options\n")
	options, _, _ := strings.Cut(rest, "\n## Environment\n")
	return read(options, pageOption, regexp.MustCompile(`^ +\S`))
}

func read(text string, first, more *regexp.Regexp) map[string]string {
	found, last := map[string]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		m := first.FindStringSubmatch(line)
		switch {
		case m != nil:
			last = strings.TrimSpace("-" + m[1] + " " + m[2])
			found[last] = words(m[3])
		case last != "" && more.MatchString(line):
			found[last] = words(found[last] + " " + line)
		default:
			last = ""
		}
	}
	return found
}

func words(s string) string { return strings.Join(strings.Fields(s), " ") }

// checkCompletion wants completion to offer what -h describes, and nothing else but -h itself.
func checkCompletion(t *testing.T, fish string, described map[string]string) {
	t.Helper()
	var want, got []string
	for option := range described {
		name, _, _ := strings.Cut(option, " ")
		want = append(want, name)
	}
	if !slices.Contains(want, "-h") {
		want = append(want, "-h")
	}
	for _, m := range regexp.MustCompile(`(?m)^complete -c \S+ -o (\S+) `).FindAllStringSubmatch(fish, -1) {
		got = append(got, "-"+m[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("completion offers %q, -h describes %q", got, want)
	}
}

// Full is a file that takes no output, as a full disk does.
const Full = "/dev/full"

// checkFullDisk has a tool print to a full disk: it says so, and fails.
func checkFullDisk(t *testing.T, tool, dir string, lines []string) {
	t.Helper()
	if _, err := os.Stat(Full); err != nil {
		t.Skipf("the system has no full disk: %v", err)
	}
	for _, line := range append([]string{"-h", "-version", "-completion bash"}, lines...) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		cmd := exec.CommandContext(ctx, "sh", "-c", tool+" "+line+" 2>&1 >"+Full)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err == nil || ctx.Err() != nil || !strings.Contains(strings.ToLower(string(out)), "no space left") {
			t.Errorf("%s on a full disk: %v\n%s", line, err, out)
		}
		cancel()
	}
}
