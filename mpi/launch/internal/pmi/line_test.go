package pmi

import (
	"bufio"
	"maps"
	"strings"
	"testing"
)

func TestParseLine(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"cmd=x a=1 b=2":                  {"a": "1", "b": "2"},
		"  b=2\ta=1   cmd=x \r":          {"a": "1", "b": "2"},
		`cmd=x a=with\ blank b=\\ c=a=b`: {"a": "with blank", "b": `\`, "c": "a=b"},
		"cmd=x":                          {},
		"mcmd=x a=":                      {"a": ""},
	} {
		l, err := parseLine(text)
		if err != nil || l.name != "x" || !maps.Equal(l.values, want) {
			t.Errorf("%q: %s %v, %v", text, l.name, l.values, err)
		}
	}
	for _, text := range []string{"", "   ", "a=1", "cmd", "cmd=x loose", "=1 cmd=x"} {
		if l, err := parseLine(text); err == nil {
			t.Errorf("%q is the command %s %v", text, l.name, l.values)
		}
	}
}

// FuzzLine reads any text as lines, within bounds.
func FuzzLine(f *testing.F) {
	f.Add("cmd=x a=1\n")
	f.Add("cmd=get_result rc=0 value=\\ \n\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := bufio.NewReaderSize(strings.NewReader(text), 16)
		for {
			line, err := readLine(r, 100)
			if err != nil {
				return
			}
			l, err := parseLine(line)
			if len(line) > 100 || err == nil && l.name == "" && !strings.Contains(line, "cmd=") {
				t.Errorf("%q is a command without a name, %v", line, err)
			}
		}
	})
}
