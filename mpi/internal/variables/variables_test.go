package variables

import (
	"slices"
	"strings"
	"testing"
	"time"
)

type settings struct {
	loud bool
	wait time.Duration
}

var table = []Binding[settings]{
	{"LOUD", "1: says more", func(s *settings) string { return Bit(s.loud) },
		func(s *settings, text string) error { return SetBit(&s.loud, text) }},
	{"WAIT", "how long", func(s *settings) string { return s.wait.String() },
		func(s *settings, text string) (err error) { s.wait, err = Time(text); return err }},
}

func TestReadAndList(t *testing.T) {
	env := func(name string) string { return map[string]string{"LOUD": "1", "OTHER": "x"}[name] }
	plain := settings{wait: time.Minute}
	s := plain
	if err := Read(table, &s, env); err != nil {
		t.Fatal(err)
	}
	want := []Variable{{"LOUD", "0", "1", "environment", "1: says more"}, {"WAIT", "1m0s", "1m0s", "default", "how long"}}
	if got := List(table, &plain, &s, env); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestNonsenseIsNamed(t *testing.T) {
	for name, text := range map[string]string{"LOUD": "very", "WAIT": "soon"} {
		var s settings
		err := Read(table, &s, func(n string) string { return map[string]string{name: text}[n] })
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s=%s: %v", name, text, err)
		}
	}
}

func TestTime(t *testing.T) {
	for text, want := range map[string]time.Duration{"30s": 30 * time.Second, "2m": 2 * time.Minute, "7": 7 * time.Second, "0": 0} {
		if d, err := Time(text); err != nil || d != want {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
	for _, text := range []string{"", "soon", "-1s", "1e3", "99999999999999999999"} {
		if d, err := Time(text); err == nil {
			t.Errorf("%q: %v", text, d)
		}
	}
}
