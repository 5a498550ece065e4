package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gomx/integration/rdmavm/internal/plan"
)

func TestListener(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue
   0: 00000000:4853 00000000:0000 0A 00000000:00000000
   1: 0100007F:1F90 0100007F:9C40 01 00000000:00000000
   2: 00000000000000000000000000000000:0016 00000000000000000000000000000000:0000 0A 0
`
	for port, want := range map[int]bool{0x4853: true, 22: true, 8080: false, 0x9C40: false, 0x853: false} {
		if got := hasListener(table, port); got != want {
			t.Errorf("port %d: %v", port, got)
		}
	}
}

func TestWhereCommandsRun(t *testing.T) {
	for want, got := range map[string][]string{
		"a b":                      onHost(1, within("", "a", "b")...),
		"on 2 a b":                 onHost(2, within("", "a", "b")...),
		"ip netns exec n a b":      onHost(1, within("n", "a", "b")...),
		"on 2 ip netns exec n a b": onHost(2, within("n", "a", "b")...),
	} {
		if strings.Join(got, " ") != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}

// check runs a check on this machine, and returns what is printed too.
func check(t *testing.T, c plan.Check) (plan.Result, string) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs sh in PATH:", err)
	}
	output, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	if c.Limit == 0 {
		c.Limit = time.Minute
	}
	r := runCheck(c, 1, output)
	text, err := os.ReadFile(output.Name())
	if err != nil {
		t.Fatal(err)
	}
	return r, string(text)
}

func TestChecks(t *testing.T) {
	shell := func(script string) []string { return []string{"sh", "-c", script} }
	for name, c := range map[string]struct {
		check   plan.Check
		exit    int
		why     string // how it begins; empty: passed
		note    string
		printed string
	}{
		"passes":        {plan.Check{Client: shell("echo took 5 us"), Want: "took", Note: `took (\d+)`}, 0, "", "5", ""},
		"streams":       {plan.Check{Client: shell("echo out; echo err >&2"), Stream: true}, 0, "", "", "out\nerr\n"},
		"exit status":   {plan.Check{Client: shell("echo why; exit 3")}, 3, "sh: exit status 3", "", "why\n"},
		"other output":  {plan.Check{Client: shell("echo ok"), Want: "fine"}, 0, "the output has nothing like", "", "ok\n"},
		"no program":    {plan.Check{Client: []string{"no-such-program"}}, -1, "no-such-program: ", "", ""},
		"does not end":  {plan.Check{Client: shell("exec sleep 1000"), Limit: 50 * time.Millisecond}, -1, "did not end within", "", ""},
		"other folder":  {plan.Check{Client: shell("pwd"), Dir: "/", Want: "(?m)^/$"}, 0, "", "", ""},
		"failed stream": {plan.Check{Client: shell("echo out; exit 1"), Stream: true}, 1, "sh: exit status 1", "", "out\n"},
	} {
		r, printed := check(t, c.check)
		if r.Exit != c.exit || !strings.HasPrefix(r.Why, c.why) || (r.Why == "") != (c.why == "") || r.Note != c.note {
			t.Errorf("%s: %+v", name, r)
		}
		if !strings.Contains(printed, c.printed) || c.check.Stream && printed != c.printed || r.Why == "" && !c.check.Stream && printed != "" {
			t.Errorf("%s prints %q", name, printed)
		}
	}
}
