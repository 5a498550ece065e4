package span

import "testing"

func TestWithin(t *testing.T) {
	area := make([]byte, 100)
	for _, c := range []struct {
		name string
		area []byte
		b    []byte
		want bool
	}{
		{"all", area, area, true},
		{"a part, capacity cut", area, area[10:20:30], true},
		{"nothing", area, nil, true},
		{"other memory", area, make([]byte, 10), false},
		{"over the end", area[:50], area[40:60], false},
		{"before the beginning", area[50:], area[40:60], false},
		{"longer", area[:50], area, false},
		{"up to the end", area[:50], area[40:50], true},
	} {
		if got := Within(c.area, c.b); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
