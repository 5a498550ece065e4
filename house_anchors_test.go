package gomx_test

import (
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"gomx/internal/testlength"
)

var (
	anchoredPattern = regexp.MustCompile(`\]\(([^)#:]*)#([^)]+)\)`)
	headingPattern  = regexp.MustCompile(`(?m)^#+ +(.*)$`)
)

// TestAnchorsExist wants each link to a part of a document to name one of its headings.
func TestAnchorsExist(t *testing.T) {
	testlength.Long(t)
	texts := documents(t)
	headings := map[string]map[string]bool{}
	for name, text := range texts {
		headings[name] = anchors(text)
	}
	for name, text := range texts {
		for _, m := range anchoredPattern.FindAllStringSubmatch(fencePattern.ReplaceAllString(text, ""), -1) {
			to := name
			if m[1] != "" {
				to = path.Join(path.Dir(name), m[1])
			}
			if known, isText := headings[to]; isText && !known[m[2]] {
				t.Errorf("%s links to %s#%s, and %s has no such heading", name, m[1], m[2], to)
			}
		}
	}
}

// anchors returns the names that hosts of Markdown give to the headings of a text.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for _, m := range headingPattern.FindAllStringSubmatch(fencePattern.ReplaceAllString(text, ""), -1) {
		names[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])] = true
	}
	return names
}
