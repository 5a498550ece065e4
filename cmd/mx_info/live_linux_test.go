package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"testing"

	"gomx/cmd/internal/tooltest"
	"gomx/mx"
)

// TestLive reads this process, which has an endpoint with one peer that it reaches over TCP, and one that is not there.
func TestLive(t *testing.T) {
	ep := tooltest.Open(t)
	id := 3000 + uint32(os.Getpid())%1000 // over shared memory, another process might have a lower one
	other, err := mx.OpenEndpoint(0, id, 7, mx.WithTransports("tcp"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	nic, _, err := mx.DecomposeEndpointAddr(other.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ep.Connect(nic, id, 7, mx.Infinite); err != nil {
		t.Fatal(err)
	}
	if _, err := ep.Connect(nic, 4095, 7, mx.Infinite); err == nil {
		t.Fatal("endpoint 4095 is open")
	}
	text := good(t, nil, "-live", "-p", tooltest.PID)
	for _, want := range []string{
		`(?m)^Endpoint ` + regexp.QuoteMeta(ep.String()) + ` of process ` + tooltest.PID + ` \(.*\), board 0, open for \d+s$`,
		`(?m)^\tlistens on: `,
		`(?m)^\tunexpected messages: 0, which take 0 bytes with their headers; the bound is \d+ bytes without$`,
		`(?m)^\tpeer ` + regexp.QuoteMeta(other.String()) + `: over tcp; messages up to \d{4,} bytes travel with their header`,
		`(?m)^\tpeer \S+/4095: no link: .*no such endpoint is open`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	var list []struct {
		PID   int           `json:"pid"`
		Peers []mx.PeerInfo `json:"peers"`
	}
	if err := json.Unmarshal([]byte(good(t, nil, "-live", "-json", "-p", tooltest.PID)), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].PID == 0 {
		t.Errorf("%+v", list)
	}
	names(t, good(t, nil, "-live"), " of process "+tooltest.PID+" (")
}

func TestLiveFailures(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-live", "-p", "2147483647"}, "mx_info: process 2147483647: there is no such process\n"},
		{[]string{"-live", "-b", "4000"}, fmt.Sprintf("mx_info: there is no board 4000: this host has boards 0 to %d\n", len(boards(t))-1)},
		{[]string{"-p", "1"}, "mx_info: -p has nothing to do without -live\n"},
		{[]string{"-live", "-env"}, "mx_info: -env and -live exclude each other: leave one out\n"},
	} {
		if o := run(t, nil, c.args...); o.status != 1 || o.stdout != "" || o.stderr != c.want {
			t.Errorf("%v: %+v", c.args, o)
		}
	}
}
