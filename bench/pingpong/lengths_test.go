package pingpong_test

import (
	"slices"
	"strings"
	"testing"

	"gomx/bench/pingpong"
)

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		steps pingpong.Steps
		want  []int
	}{
		{pingpong.Steps{End: 4, Add: 1}, []int{0, 1, 2, 3}},
		{pingpong.Steps{End: 9, Factor: 2}, []int{0, 1, 2, 4, 8}},
		{pingpong.Steps{Start: 3, End: 20, Factor: 1.5}, []int{3, 4, 6, 9, 13, 19}},
		{pingpong.Steps{Start: 5, End: 8, Factor: 1}, []int{5, 6, 7}},
		{pingpong.Steps{Start: 1 << 29, End: 1 << 30, Factor: 1e300}, []int{1 << 29}},
	} {
		if got, err := c.steps.Lengths(); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, %v", c.steps, got, err)
		}
	}
	for _, s := range []pingpong.Steps{
		{Start: -1, End: 4, Add: 1}, {End: 1<<30 + 1, Factor: 2}, {Start: 4, End: 4, Add: 1},
		{End: 4, Add: -1}, {End: 4, Factor: 0.5}, {End: 4}, {End: 1 << 30, Add: 1},
	} {
		if got, err := s.Lengths(); err == nil {
			t.Errorf("%+v: no error but %d lengths", s, len(got))
		}
	}
}

func TestReadLengths(t *testing.T) {
	got, err := pingpong.ReadLengths(strings.NewReader("0\n8 64 # small\n\n# large\n1073741824\n"))
	if err != nil || !slices.Equal(got, []int{0, 8, 64, 1 << 30}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "# none\n", "8\n-1\n", "8\n1073741825\n", "8\neight\n", "8\n1e3\n"} {
		if got, err := pingpong.ReadLengths(strings.NewReader(text)); err == nil {
			t.Errorf("%q: no error but %v", text, got)
		}
	}
	if _, err := pingpong.ReadLengths(strings.NewReader("8\nx\n")); !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v does not name line 2", err)
	}
}
