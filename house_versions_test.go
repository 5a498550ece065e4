package gomx_test

import (
	"regexp"
	"strings"
	"testing"

	"gomx/mx"
)

// TestCompatibilityIsSaid: the documentation of a package says whether programs may rely on it.
func TestCompatibilityIsSaid(t *testing.T) {
	for said, packages := range map[string][]string{
		"semantic versioning":          {"mx", "exs", "mpi"},
		"it may change in any version": {"match", "unexpected", "endpoint", "transport"},
	} {
		for _, p := range packages {
			if !strings.Contains(read(t, p+"/doc.go"), said) {
				t.Errorf("%s/doc.go does not say %q", p, said)
			}
		}
	}
}

// TestChangelog wants CHANGELOG.md in its form, and to speak of the version that the sources have.
func TestChangelog(t *testing.T) {
	text := read(t, "CHANGELOG.md")
	if !strings.Contains(text, "\n## [Unreleased]\n") || !strings.Contains(text, "v"+mx.Version) {
		t.Errorf("CHANGELOG.md has no section Unreleased, or does not mention v%s", mx.Version)
	}
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(mx.Version) {
		t.Errorf("mx.Version is %q: want a semantic version", mx.Version)
	}
	kinds := regexp.MustCompile(`^(Added|Changed|Deprecated|Removed|Fixed|Security)$`)
	for line := range strings.Lines(text) {
		if kind, is := strings.CutPrefix(line, "### "); is && !kinds.MatchString(strings.TrimSpace(kind)) {
			t.Errorf("CHANGELOG.md has a section %q, which Keep a Changelog does not know", kind)
		}
	}
}
