package main_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gomx/mx"
)

// findings are the parts of -json that the tests look at.
type findings struct {
	Version string
	API     string
	Boards  []struct {
		Number int
		NICID  string `json:"nic_id"`
		Name   string
		State  string
		Addrs  []string `json:"addresses"`
	}
	Limits struct {
		Endpoints uint32 `json:"endpoints_per_board"`
		Segments  int    `json:"segments_per_message"`
		Message   uint64 `json:"message_bytes"`
		Eager     uint32 `json:"eager_bytes"`
	}
	Transports []mx.TransportInfo
	SingleCopy struct {
		Works       bool
		Reason      string
		PtraceScope string `json:"ptrace_scope"`
	} `json:"single_copy"`
	Environment []mx.Variable
}

func parse(t *testing.T, text string) (f findings) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return f
}

func boards(t *testing.T) []mx.Board {
	t.Helper()
	if err := mx.Init(); err != nil {
		t.Fatal(err)
	}
	defer mx.Finalize()
	list, err := mx.Boards()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestTextNamesEverything(t *testing.T) {
	out := good(t, nil)
	names(t, out, "MX Version: "+mx.Version, "(API 0x301)", "MX Build:", fmt.Sprint(mx.MaxEndpoints), "256 segments", "4294967295 bytes")
	for _, b := range boards(t) {
		names(t, out, fmt.Sprintf("Board #%d:  %s\n", b.Number, b.Name), b.ID.String(), b.State, b.Interface, b.Addrs[0].String())
	}
	for _, info := range mx.Transports() {
		names(t, out, "\t"+info.Name, info.About)
	}
	names(t, out, "Single copy between processes: ", "ptrace_scope: ")
}

func TestJSONSaysTheSame(t *testing.T) {
	f := parse(t, good(t, nil, "-json"))
	if f.Version != mx.Version || f.API != "0x301" {
		t.Errorf("version %s, API %s", f.Version, f.API)
	}
	if f.Limits.Endpoints != mx.MaxEndpoints || f.Limits.Segments != mx.MaxSegments || f.Limits.Message != mx.MaxMessage || f.Limits.Eager == 0 {
		t.Errorf("%+v", f.Limits)
	}
	list := boards(t)
	if len(f.Boards) != len(list) {
		t.Fatalf("%d boards, want %d", len(f.Boards), len(list))
	}
	for i, b := range f.Boards {
		if b.Number != i || b.NICID != list[i].ID.String() || b.Name != list[i].Name || b.State != list[i].State || len(b.Addrs) != len(list[i].Addrs) {
			t.Errorf("%+v", b)
		}
	}
	if want := mx.Transports(); fmt.Sprint(f.Transports) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", f.Transports, want)
	}
	if f.SingleCopy.Works == (f.SingleCopy.Reason != "") || f.SingleCopy.PtraceScope == "" {
		t.Errorf("%+v", f.SingleCopy)
	}
	if len(f.Environment) == 0 {
		t.Error("no environment")
	}
}

func TestOneBoard(t *testing.T) {
	list := boards(t)
	for i, b := range list {
		out := good(t, nil, "-b", fmt.Sprint(i))
		names(t, out, "1 board.", b.Name)
		if strings.Count(out, "Board #") != 1 {
			t.Errorf("more than board %d:\n%s", i, out)
		}
		if f := parse(t, good(t, nil, "-json", "-b", fmt.Sprint(i))); len(f.Boards) != 1 || f.Boards[0].Number != i {
			t.Errorf("%+v", f.Boards)
		}
	}
	for _, n := range []string{"32", "300", "4294967295"} {
		o := run(t, nil, "-b", n)
		if o.status != 1 || o.stdout != "" {
			t.Errorf("board %s: status %d, %s", n, o.status, o.stdout)
		}
		names(t, o.stderr, "mx_info:", "board "+n, fmt.Sprintf("0 to %d", len(list)-1))
	}
}

func TestSingleCopySwitchedOff(t *testing.T) {
	needShm(t)
	names(t, good(t, []string{"MX_SINGLE_COPY=0"}), "Single copy between processes: no: switched off by MX_SINGLE_COPY")
}

func TestSharedMemorySwitchedOff(t *testing.T) {
	f := parse(t, good(t, []string{"MX_DISABLE_SHMEM=1"}, "-json"))
	if f.SingleCopy.Works {
		t.Error("single copy without shared memory")
	}
	for _, info := range f.Transports {
		if info.Name == "shm" && (info.Available || !strings.Contains(info.Reason, "MX_DISABLE_SHMEM")) {
			t.Errorf("%+v", info)
		}
	}
	if !strings.Contains(f.SingleCopy.Reason, "MX_DISABLE_SHMEM") {
		t.Errorf("%+v", f.SingleCopy)
	}
}

// Settings that would be in the way of the trial are not.
func TestTrialStandsOddSettings(t *testing.T) {
	needShm(t)
	plain := parse(t, good(t, nil, "-json")).SingleCopy
	for _, v := range []string{"MX_ANY_ENDPOINT=5", "MX_ERRORS_ARE_FATAL=1", "MX_TRANSPORT=mem", "MX_EAGER=64K", "MX_SPIN=0", "MX_ARENA=0"} {
		if got := parse(t, good(t, []string{v}, "-json")).SingleCopy; got != plain {
			t.Errorf("%s: %+v, otherwise %+v", v, got, plain)
		}
	}
}

func needShm(t *testing.T) {
	t.Helper()
	for _, info := range mx.Transports() {
		if info.Name == "shm" && !info.Available {
			t.Skipf("shared memory: %s", info.Reason)
		}
	}
}

// Ports may leave fewer endpoint ids than there are otherwise.
func TestEndpointsThatPortsLeave(t *testing.T) {
	if n := parse(t, good(t, []string{"MX_PORT_RANGE=20000-20001"}, "-json")).Limits.Endpoints; n != 2 {
		t.Errorf("%d endpoints per board, and 2 ports", n)
	}
}
