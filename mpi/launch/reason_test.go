package launch

import "testing"

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
