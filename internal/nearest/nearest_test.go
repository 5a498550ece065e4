package nearest

import "testing"

func TestName(t *testing.T) {
	known := []string{"ordered", "atomic", "size", "reach"}
	for name, want := range map[string]string{"orderd": "ordered", "atmoic": "atomic", "sizes": "size", "rich": "", "": "", "colour": "", "SIZE": "size"} {
		if got := Name(name, known); got != want {
			t.Errorf("nearest to %q is %q, want %q", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"abc", "", 3}, {"abc", "abd", 1}, {"abc", "acb", 1}, {"abc", "xabc", 1}, {"kitten", "sitting", 3}} {
		if got, back := distance(c.a, c.b), distance(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%q and %q: %d and %d, want %d", c.a, c.b, got, back, c.want)
		}
	}
}
