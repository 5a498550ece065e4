package live_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gomx/mpi/live"
	"gomx/mx"
)

// reading is a process that answers with such parts.
func reading(pid int, parts ...string) *mx.LiveReading {
	r := &mx.LiveReading{User: os.Geteuid(), ProcessSnapshot: mx.ProcessSnapshot{PID: pid, Command: "crossed"}}
	for _, p := range parts {
		r.Waits = append(r.Waits, json.RawMessage(p))
	}
	return r
}

const (
	first = `{"job":"a","size":3,"ends":{"0":"vm:0/0"},"snapshot":{"ranks":[{"rank":0,"state":"waits",
		"waits":[{"call":"Recv","needs":[{"kind":"recv","op":"Recv","peer":1,"tag":5,"comm":"2@0"}]}]}],
		"comms":[{"id":"2@0","name":"world","members":[0,1,2]}]}}`
	second = `{"job":"a","size":3,"ends":{"1":"vm:0/1"},"snapshot":{"ranks":[{"rank":1,"state":"waits",
		"waits":[{"call":"Recv","needs":[{"kind":"recv","op":"Recv","peer":0,"tag":5,"comm":"2@0"}]}]}]}}`
)

// TestJobs joins what two processes say of a job. The third does not answer.
func TestJobs(t *testing.T) {
	jobs := live.Jobs([]*mx.LiveReading{reading(11, second), reading(10, first)})
	if len(jobs) != 1 || jobs[0].ID != "a" || jobs[0].Size != 3 || len(jobs[0].Ranks) != 2 || jobs[0].Ranks[0] != (live.Rank{Rank: 0, PID: 10, Endpoint: "vm:0/0"}) {
		t.Fatalf("%+v", jobs)
	}
	text := jobs[0].Report.Text()
	for _, want := range []string{"deadlock: rank 0 waits for rank 1 in Recv, tag 5, world; rank 1 waits", "rank 2: does not answer"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if steps := jobs[0].Report.Steps(); len(steps) != 2 || !jobs[0].Report.Circular(steps[0]) {
		t.Errorf("%+v", steps)
	}
}

// TestNonsense is left out, whoever says it.
func TestNonsense(t *testing.T) {
	jobs := live.Jobs([]*mx.LiveReading{
		reading(1, `{`, `7`, `null`, `[]`, `{"job":"","size":3}`, `{"job":"b","size":-1}`, `{"job":"b","size":1000000000}`),
		reading(2, `{"job":"c","size":1,"ends":{"-4":"x","9":"y"},"snapshot":{"size":99999999,"ranks":[{"rank":-1},{"rank":12}],"comms":[{"members":[-1,77]}]}}`),
		reading(3, `{"job":"c","size":2}`),
	})
	if len(jobs) != 1 || jobs[0].ID != "c" || len(jobs[0].Report.Snapshot.Ranks) != 1 || len(jobs[0].Ranks) != 0 {
		t.Fatalf("%+v", jobs)
	}
}

// TestForeign believes a user who is not the one that asks within bounds, which others don't feel.
func TestForeign(t *testing.T) {
	const stranger = 1 << 30
	of := func(user int, parts ...string) *mx.LiveReading {
		r := reading(1000+user%1000, parts...)
		r.User = user
		return r
	}
	claim := func(job string, size int) string { return fmt.Sprintf(`{"job":"%s","size":%d}`, job, size) }
	many := func(job string, size, needs int) string {
		return fmt.Sprintf(`{"job":"%s","size":%d,"snapshot":{"ranks":[{"rank":0,"state":"waits","waits":[{"call":"WaitAll","needs":[%s{}]}]}]}}`,
			job, size, strings.Repeat(`{"kind":"collective","comm":"c"},`, needs-1))
	}
	crowd := `{"job":"crowd","size":2,"snapshot":{"comms":[{"id":"c","members":[` + strings.Repeat("0,", 5000) + `1]}]}}`
	own := os.Geteuid()
	for _, c := range []struct {
		name     string
		readings []*mx.LiveReading
		want     []string
	}{
		{"one large job", []*mx.LiveReading{of(stranger, claim("large", 1<<14)), of(stranger, first, second)}, []string{"a"}},
		{"many jobs", []*mx.LiveReading{of(stranger, claim("1", 4000), claim("2", 4000), claim("3", 90))}, []string{"1", "3"}},
		{"several users", []*mx.LiveReading{of(stranger, claim("1", 4000)), of(stranger+1, claim("2", 4000)), of(own, claim("3", 1<<14))}, []string{"1", "2", "3"}},
		{"many requests", []*mx.LiveReading{of(stranger, many("few", 4, 100), many("many", 4, 9000)), of(own, many("own", 4, 9000))}, []string{"few", "own"}},
		{"requests of many ranks", []*mx.LiveReading{of(stranger, many("few", 4000, 100), many("many", 90, 5000))}, []string{"few"}},
		{"a communicator that is larger than its job", []*mx.LiveReading{of(stranger, crowd)}, nil},
	} {
		var got []string
		for _, j := range live.Jobs(c.readings) {
			got = append(got, j.ID)
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
