package main_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gomx/mx"
)

func TestHelp(t *testing.T) {
	for _, flag := range []string{"-h", "-help", "--help"} {
		names(t, good(t, nil, flag), "-b n", "-env", "-json", "-h ")
	}
}

func TestBadFlags(t *testing.T) {
	for _, c := range []struct {
		args  []string
		parts []string
	}{
		{[]string{"-q"}, []string{"-q", "-h explains"}},
		{[]string{"-counters"}, []string{"-counters", "-h explains"}},
		{[]string{"-b"}, []string{"-b", "-h explains"}},
		{[]string{"-b", "two"}, []string{"two", "board number"}},
		{[]string{"-b", "-1"}, []string{"-1", "board number"}},
		{[]string{"-b", "4294967296"}, []string{"4294967296"}},
		{[]string{"shm"}, []string{"shm", "-h explains"}},
		{[]string{"-env", "-b", "0"}, []string{"-b"}},
	} {
		o := run(t, nil, c.args...)
		if o.status != 1 || o.stdout != "" {
			t.Errorf("%v: status %d, %q", c.args, o.status, o.stdout)
		}
		names(t, o.stderr, append(c.parts, "mx_info: ")...)
	}
}

func TestEnvironmentTable(t *testing.T) {
	env := []string{"MX_SPIN=7us", "MX_EAGER=16K", "MX_ARENA="}
	want := map[string][3]string{ // default, value, source
		"MX_SPIN": {"50µs", "7µs", "environment"}, "MX_EAGER": {"-1", "16384", "environment"}, "MX_ARENA": {"1", "1", "default"},
	}
	var list []mx.Variable
	if err := json.Unmarshal([]byte(good(t, env, "-env", "-json")), &list); err != nil {
		t.Fatal(err)
	}
	text := good(t, env, "-env")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 1+len(list) || len(list) < 10 {
		t.Fatalf("%d variables, %d lines:\n%s", len(list), len(lines), text)
	}
	for i, v := range list {
		w, special := want[v.Name]
		if !special {
			w = [3]string{v.Default, v.Default, "default"}
		}
		if got := [3]string{v.Default, v.Value, v.Source}; got != w {
			t.Errorf("%s: %v, want %v", v.Name, got, w)
		}
		fields := strings.Fields(lines[i+1])
		if fields[0] != v.Name || fields[1] != v.Default || fields[2] != v.Value || fields[3] != v.Source || !strings.HasSuffix(lines[i+1], v.Help) {
			t.Errorf("%s", lines[i+1])
		}
	}
}

func TestBadEnvironment(t *testing.T) {
	for _, v := range []string{"MX_EAGER=many", "MX_TRANSPORT=pigeon", "MX_SPIN=-1us", "MX_ARENA=perhaps", "MX_ANY_ENDPOINT=4096"} {
		name, value, _ := strings.Cut(v, "=")
		for _, args := range [][]string{nil, {"-env"}, {"-json"}} {
			o := run(t, []string{v}, args...)
			if o.status != 1 || o.stdout != "" {
				t.Errorf("%s, %v: status %d, %q", v, args, o.status, o.stdout)
			}
			names(t, o.stderr, name, value, "correct it or unset it")
		}
	}
}

func TestPartnerVariableIsOurs(t *testing.T) {
	o := run(t, []string{"MX_INFO_PARTNER=nonsense"})
	if o.status != 1 {
		t.Errorf("status %d", o.status)
	}
	names(t, o.stderr, "MX_INFO_PARTNER", "unset")
}
