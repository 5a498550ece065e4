package turns

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gomx/bench/internal/mpis"
	"gomx/internal/testlength"
)

const (
	latencyHead   = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n"
	bandwidthHead = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
)

func TestPerftestOutput(t *testing.T) {
	latency, bandwidth := &perftest{traffic: Pings}, &perftest{traffic: Windows}
	for name, c := range map[string]struct {
		p      *perftest
		out    string
		length int
		value  float64
		err    string
	}{
		"latency":      {latency, latencyHead + " 8       5000          9.55           147.24       10.06    \t       10.69       \t6.07   \t\t23.47   \t\t119.08 \n", 8, 10.06, ""},
		"bandwidth":    {bandwidth, bandwidthHead + " 1048576    160              51.20              50.00\t\t   0.000045\n", 1 << 20, 20000, ""},
		"no clock":     {latency, latencyHead + " 8       5000          inf            inf          inf      \t       inf         \t-nan   \t\tinf     \t\tinf    \n", 8, 0, errNoClock.Error()},
		"no number":    {latency, latencyHead + " 8       5000          1  2  -nan  4\n", 8, 0, errNoClock.Error()},
		"no time":      {bandwidth, bandwidthHead + " 8    160              0.00              0.00\t\t   0.000000\n", 8, 0, errNoClock.Error()},
		"other length": {latency, latencyHead + " 8       5000    1 2 3 4\n", 16, 0, "no result for 16 B"},
		"nothing":      {latency, latencyHead, 8, 0, "no result for 8 B"},
		"too short":    {latency, latencyHead + " 8  5000  9.55\n", 8, 0, "unreadable"},
		"words":        {latency, latencyHead + " 8  5000  9.55 1 ten\n", 8, 0, "unreadable"},
	} {
		f, err := c.p.parse([]byte(c.out), c.length)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || (c.err == errNoClock.Error()) != errors.Is(err, errNoClock) {
				t.Errorf("%s: error %v, want %q", name, err, c.err)
			}
			continue
		}
		if err != nil || f.value != c.value || f.ops != 1 {
			t.Errorf("%s: %+v, %v, want %v", name, f, err, c.value)
		}
	}
}

// fakePerftest puts scripts into the path: a server that waits for a client to have been, and a
// client whose first words are "Couldn't connect" and that then says what it is told, a line each
// time. It returns the file that counts the clients.
func fakePerftest(t *testing.T, lines ...string) (counter string) {
	t.Helper()
	dir := t.TempDir()
	counter = filepath.Join(dir, "clients")
	scripts := map[string]string{
		"taskset": `shift 2; exec "$@"`,
		"ib_send_lat": `cd ` + dir + `
			case "$*" in
			*127.0.0.1) echo >> clients; n=$(wc -l < clients)
				[ $n -gt 1 ] || { echo "Couldn't connect to 127.0.0.1"; exit 1; }
				touch been; sed -n $((n-1))p lines;;
			*) while [ ! -e been ]; do sleep 0.01; done; rm been;;
			esac`,
	}
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "lines"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return counter
}

func TestPerftestIsAskedAgain(t *testing.T) {
	testlength.Long(t)
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs sh in PATH:", err)
	}
	ping := Row{Traffic: Pings, Length: 8, Args: []string{"-count", "5"}}
	const good, noClock = " 8 5 1.0 2.0 1.5 1.6", " 8 5 inf inf inf inf"
	for name, c := range map[string]struct {
		lines   []string
		clients int
		err     error
	}{
		"too early":      {[]string{good}, 2, nil},
		"clock at first": {[]string{noClock, noClock, good}, 4, nil},
		"clock for good": {slices.Repeat([]string{noClock}, attempts+1), attempts + 1, errNoClock},
	} {
		counter := fakePerftest(t, c.lines...)
		p := perftests(rig{device: "rxe0"})[0].perftest
		if err := p.locate(); err != nil {
			t.Fatal(err)
		}
		f, err := p.measure(t.Context(), ping, time.Minute)
		if !errors.Is(err, c.err) || err == nil && f.value != 1.5 {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
		if text, err := os.ReadFile(counter); err != nil || len(text) != c.clients {
			t.Errorf("%s: %d clients, %v, want %d", name, len(text), err, c.clients)
		}
	}
}

func TestPerftestServerThatFails(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs sh in PATH:", err)
	}
	dir := t.TempDir()
	script := "#!/bin/sh\ncase \"$*\" in *127.0.0.1) echo Couldn\\'t connect; exit 1;; esac\necho no such device >&2; exit 3\n"
	if err := os.WriteFile(filepath.Join(dir, "taskset"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	p := &perftest{program: "ib_send_lat", traffic: Pings, path: "x", taskset: filepath.Join(dir, "taskset")}
	_, err := p.measure(t.Context(), Row{Traffic: Pings, Length: 8}, time.Minute)
	if err == nil || !strings.Contains(err.Error(), "no such device") {
		t.Errorf("error %v", err)
	}
}

func TestPerftestArguments(t *testing.T) {
	p := &perftest{program: "ib_read_bw", rig: rig{device: "dev0", gid: 3}, path: "p", taskset: "taskset"}
	window := Row{Traffic: Windows, Length: 64, Args: []string{"-length", "64", "-count", "10"}}
	if got := p.command(window, 7, time.Minute, 1, "host").String(); got != "taskset -c 1 p -F -d dev0 -s 64 -n 640 -p 7 -x 3 host" {
		t.Errorf("perftest: %s", got)
	}
	p.rig.gid = -1
	if got := p.command(Row{Traffic: Pings}, 7, time.Minute, 0).String(); got != "taskset -c 0 p -F -d dev0 -s 1 -n 5 -p 7" {
		t.Errorf("perftest: %s", got)
	}
}

// TestMediaOfMPIs has a script stand in for a launcher, which prints what it is told.
func TestMediaOfMPIs(t *testing.T) {
	dir := t.TempDir()
	launcher := filepath.Join(dir, "mpirun")
	const script = "#!/bin/sh\nprintf '{\"value\":1,\"ops\":1,\"library\":\"%s\"}\\n{\"value\":0,\"ops\":0}\\n' \"$* $UCX_TLS $UCX_IB_GID_INDEX\"\n"
	if err := os.WriteFile(launcher, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for over, want := range map[string][2]string{
		SHM:  {"", ""},
		TCP:  {"--mca btl tcp,self", "tcp,self"},
		RDMA: {"--mca pml ucx", "rc,self 3"},
	} {
		for i, m := range mpis.Known() {
			m.LauncherPath = launcher
			c := &comparison{options: &options{over: over, timeout: time.Minute, rig: rig{device: "dev0", gid: 3}}, dir: dir}
			f, err := c.measure(t.Context(), &subject{mpi: m, folder: "f"}, Row{Ranks: 2, Program: "p", Args: []string{"-x"}})
			if err != nil || !strings.Contains(f.library, want[i]) || !strings.Contains(f.library, " f/p."+m.Name+" -x") {
				t.Errorf("%s over %s: %+v, %v", m.Name, over, f, err)
			}
			if over == SHM && (strings.Contains(f.library, "tcp") || strings.Contains(f.library, "ucx")) {
				t.Errorf("%s over shared memory: %s", m.Name, f.library)
			}
		}
	}
}

func TestTraffic(t *testing.T) {
	for name, c := range map[string]struct {
		r      Row
		over   string
		passed passed
		ok     bool
	}{
		"enough bytes":     {Row{Traffic: Pings, Length: 8}, TCP, passed{bytes: 240}, true},
		"too few":          {Row{Traffic: Pings, Length: 8}, TCP, passed{bytes: 239}, false},
		"a window":         {Row{Traffic: Windows, Length: 8}, TCP, passed{bytes: 40}, true},
		"too small":        {Row{Traffic: Windows, Length: 8}, TCP, passed{bytes: 39}, false},
		"enough packets":   {Row{Traffic: Windows, Length: 4097}, RDMA, passed{packets: 10}, true},
		"too few packets":  {Row{Traffic: Windows, Length: 4097}, RDMA, passed{packets: 9}, false},
		"of empty ones":    {Row{Traffic: Pings}, RDMA, passed{packets: 4}, false},
		"shared memory":    {Row{Traffic: Pings, Length: 8}, SHM, passed{}, true},
		"other programs":   {Row{}, TCP, passed{}, true},
		"nothing is count": {Row{Traffic: Pings, Length: 8}, TCP, passed{}, true},
	} {
		before := passed{7, 7}
		after := passed{7 + c.passed.bytes, 7 + c.passed.packets}
		if c.passed == (passed{}) {
			before, after = passed{}, passed{}
		}
		if err := c.r.check(c.over, 10, before, after); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReceivedBytes(t *testing.T) {
	const table = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets
    lo: 1000      10    0    0    0     0          0         0     1000      10
  eth0:  234       5    0    0    0     0          0         0      777       5
  odd:
`
	if got := receivedBytes(table); got != 1234 {
		t.Errorf("got %d", got)
	}
}
