package live_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gomx/mpi/live"
	"gomx/mx"
)

// reading is a process that answers with such parts.
func reading(pid int, parts ...string) *mx.LiveReading {
	r := &mx.LiveReading{ProcessSnapshot: mx.ProcessSnapshot{PID: pid, Command: "crossed"}}
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
