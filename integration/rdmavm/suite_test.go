package main

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gomx/integration/rdmavm/internal/plan"
)

func TestOptions(t *testing.T) {
	o, err := parse(words("-packages ./a,./b -run X -short -v -hosts 2 -keep -timeout 10s -cache c -- -x y"))
	if err != nil || !slices.Equal(o.packages, []string{"./a", "./b"}) || !slices.Equal(o.args, []string{"-x", "y"}) ||
		o.run != "X" || !o.short || !o.verbose || o.hosts != 2 || !o.keep || o.timeout != 10*time.Second || o.cache != "c" {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := parse(words("ib_send_lat -d rxe0")); err != nil || !slices.Equal(o.args, []string{"ib_send_lat", "-d", "rxe0"}) {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := parse(words("-compare -- -rounds 2")); err != nil || !o.mpi || o.timeout != compareTimeout || !slices.Equal(o.args, []string{"-rounds", "2"}) {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := parse(words("-compare -timeout 5m")); err != nil || o.timeout != 5*time.Minute {
		t.Errorf("%+v, %v", o, err)
	}
	for _, line := range []string{"-hosts 0", "-compare -hosts 2", "-compare -packages ./a", "-hosts 3", "-timeout 0s", "-nonsense"} {
		if _, err := parse(words(line)); exitStatus(err) != exitUsage {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestExitStatus(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errFailed, 1}, {errors.New("other"), 1}, {errors.Join(errUsage, errors.New("other")), 2}, {errors.Join(errors.New("other"), errLacking), 3},
	} {
		if got := exitStatus(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}

func TestEveryCheckIsBounded(t *testing.T) {
	for hosts := 1; hosts <= 2; hosts++ {
		for _, c := range withLimits(toolChecks(hosts)) {
			if hosts > 1 && c.ClientIn+c.ServerIn != "" {
				t.Errorf("%s wants namespaces, which only a machine by itself has", c.Name)
			}
			if c.Limit <= 0 || c.Want == "" || len(c.Client) == 0 || (len(c.Server) > 0) != (c.Port > 0) {
				t.Errorf("%+v", c)
			}
			for _, pattern := range []string{c.Want, c.Note} {
				if _, err := regexp.Compile(pattern); err != nil {
					t.Errorf("%s: %v", c.Name, err)
				}
			}
		}
	}
	o := options{timeout: time.Minute, run: "A|B", verbose: true, short: true, args: []string{"-x"}}
	c := testCheck(testBinary{name: "gomx/a/b"}, o)
	want := words("/packages/gomx/a/b/b.test -test.timeout=43.2s -test.count=1 -test.run=A|B -test.v -test.short -x")
	if !slices.Equal(c.Client, want) || c.Dir != "/packages/gomx/a/b" || c.Limit >= o.timeout {
		t.Errorf("%+v", c)
	}
}

func TestPatterns(t *testing.T) {
	const head = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]\n"
	lines := func(typical string) string {
		return head + " 8       500          " + typical + "          90.11        " + typical + "     \t       14.02\n"
	}
	c := perftest("ib_send_lat", "rxe0", "rxe0", "10.79.0.1")
	for _, typical := range []string{"13.48", "inf"} {
		if !regexp.MustCompile(c.Want).MatchString(lines(typical)) {
			t.Error("the pattern does not know the program's output", lines(typical))
		}
		if m := regexp.MustCompile(c.Note).FindStringSubmatch(lines(typical)); m == nil || m[1] != typical {
			t.Error(m)
		}
	}
	if regexp.MustCompile(c.Want).MatchString(head) {
		t.Error("the head of the table passes for a measurement")
	}
}

func TestTable(t *testing.T) {
	checks := []plan.Check{{Name: "one"}, {Name: "two"}}
	passed := plan.Result{Name: "one", Note: "5 us"}
	failed := plan.Result{Name: "two", Exit: 1, Why: "bad\nend"}
	for _, c := range []struct {
		results []plan.Result
		passed  bool
		want    []string
	}{
		{[]plan.Result{passed, {Name: "two"}}, true, []string{"one 0 0.0 passed 5 us", "two 0 0.0 passed"}},
		{[]plan.Result{passed, failed}, false, []string{"one 0 0.0 passed 5 us", "two 1 0.0 FAILED bad; end"}},
		{[]plan.Result{passed}, false, []string{"one 0 0.0 passed 5 us", "two - - FAILED did not come to its end"}},
		{nil, false, []string{"one - - FAILED did not come to its end", "two - - FAILED did not come to its end"}},
	} {
		var b strings.Builder
		if got := printTable(&b, checks, c.results); got != c.passed {
			t.Errorf("passed: %v\n%s", got, b.String())
		}
		lines := strings.Split(strings.TrimSpace(b.String()), "\n")[1:]
		for i := range lines {
			lines[i] = strings.Join(strings.Fields(lines[i]), " ")
		}
		if !slices.Equal(lines, c.want) {
			t.Errorf("%q, want %q", lines, c.want)
		}
	}
}

func TestProcessors(t *testing.T) {
	for _, c := range [][3]int{{1, 1, 1}, {1, 2, 2}, {1, 64, 2}, {2, 1, 1}, {2, 2, 1}, {2, 4, 2}} {
		if got := processors(c[0], c[1]); got != c[2] {
			t.Errorf("%d machines on %d cores: %d processors, want %d", c[0], c[1], got, c[2])
		}
	}
}

// The two ends of the cable between machines must name each other.
func TestCable(t *testing.T) {
	one, two := &machine{number: 1, dir: "d"}, &machine{number: 2, dir: "d"}
	line := func(m *machine) string { return strings.Join(m.arguments(2), " ") }
	for m, ends := range map[*machine]string{
		one: "local.path=d/host1.cable,remote.type=unix,remote.path=d/host2.cable",
		two: "local.path=d/host2.cable,remote.type=unix,remote.path=d/host1.cable",
	} {
		if !strings.Contains(line(m), ends) {
			t.Errorf("%s lacks %s", line(m), ends)
		}
	}
	if alone := strings.Join(one.arguments(1), " "); !strings.Contains(alone, "-nic none") || strings.Contains(alone, "netdev") {
		t.Errorf("one machine has a network: %s", alone)
	}
}
