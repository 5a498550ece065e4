package launch

import (
	"strings"
	"testing"
)

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		text    string
		longest int
		want    string
	}{{"", 4, ""}, {"cheese", 6, "cheese"}, {"cheese", 5, "ch..."}, {"käse", 4, "k..."}, {"ääää", 7, "ää..."}, {"cheese", 3, "..."}} {
		if got := Shorten(c.text, c.longest); got != c.want {
			t.Errorf("%q cut to %d is %q, want %q", c.text, c.longest, got, c.want)
		}
	}
}

func TestReason(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {"out of käse:\n\tnone", "out of käse:\n\tnone"}, {"a\x1b[2J\r\x00\a", `a\x1b[2J\r\x00\a`}, {"\xff\u202e", `\xff\u202e`},
		{strings.Repeat("x", MaxReason), strings.Repeat("x", MaxReason)}, {strings.Repeat("\x1b", MaxReason), strings.Repeat(`\x1b`, MaxReason/4-1) + `\...`},
	} {
		got := Reason(c.text)
		if got != c.want || Reason(got) != got {
			t.Errorf("%.40q is %.80q, of %d bytes, want %.80q", c.text, got, len(got), c.want)
		}
	}
}

func TestName(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"rows", "rows"}, {"x\n\x1b[31mevil\t", `x\n\x1b[31mevil\t`}, {strings.Repeat("ä", MaxName), strings.Repeat("ä", (MaxName-3)/2) + "..."},
	} {
		if got := Name(c.text); got != c.want {
			t.Errorf("%.40q is %q, want %q", c.text, got, c.want)
		}
	}
}
