package newcomer

import (
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tools are the folders of all programs that docs/tools describes.
var tools = []string{
	"cmd/mx_info", "cmd/mx_pingpong", "cmd/mx_run", "cmd/exs_blast", "cmd/mx_counters", "cmd/mx_endpoint_info",
	"cmd/mx_hostname", "cmd/mx_stream", "cmd/mx_msg_loop", "cmd/mx_trace", "cmd/mx_top",
	"bench/compare", "bench/scale", "integration/rdmavm",
}

// sections of a page, in their order.
var sections = []string{"Synopsis", "Description", "Options", "Environment", "Exit status", "Examples", "See also"}

// TestTools compares the page of each tool with the tool: its options, with what -h says of them, and its flags, with
// what completion offers.
func TestTools(t *testing.T) {
	t.Parallel()
	long(t)
	list, err := filepath.Glob(filepath.Join(checkout, "cmd", "mx_*"))
	if err != nil || len(list) != 10 {
		t.Errorf("cmd has %q: is there a tool that the table of this test lacks? %v", list, err)
	}
	bin := t.TempDir()
	build := []string{"build", "-ldflags=-w", "-o", bin}
	for _, folder := range tools {
		build = append(build, "gomx/"+folder)
	}
	if out, err := exec.Command("go", build...).CombinedOutput(); err != nil {
		t.Fatalf("building the tools: %v\n%s", err, out)
	}
	for _, folder := range tools {
		name := path.Base(folder)
		t.Run(name, func(t *testing.T) {
			tool := filepath.Join(bin, name)
			page := text(t, "docs/tools/"+name+".md")
			checkSections(t, page)
			want, got := ofHelp(must(t, ".", tool+" -h")), ofPage(page)
			for _, option := range slices.Sorted(maps.Keys(want)) {
				if got[option] != want[option] {
					t.Errorf("%s\n-h says   %q\nits page says %q", option, want[option], got[option])
				}
				delete(got, option)
			}
			if len(got) > 0 {
				t.Errorf("the page has options that -h has not: %v", got)
			}
			checkCompletion(t, must(t, ".", tool+" -completion fish"), want)
			if v := must(t, ".", tool+" -version"); !strings.HasPrefix(v, name+" of gomx ") {
				t.Errorf("-version prints %q", v)
			}
			if !strings.Contains(text(t, "docs/tools/README.md"), "]("+name+".md)") {
				t.Error("docs/tools/README.md does not list it")
			}
			checkFullDisk(t, bin, name)
		})
	}
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
