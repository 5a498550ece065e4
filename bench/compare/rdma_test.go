package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	latencyHead   = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n"
	bandwidthHead = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
)

func TestPerftestOutput(t *testing.T) {
	latency, bandwidth := &perftest{quantity: "latency"}, &perftest{quantity: "bandwidth"}
	for name, c := range map[string]struct {
		p      *perftest
		out    string
		length int
		value  float64
		err    string
	}{
		"latency":      {latency, latencyHead + " 8       5000          9.55           147.24       10.06    \t       10.69       \t6.07   \t\t23.47   \t\t119.08 \n", 8, 10.06, ""},
		"bandwidth":    {bandwidth, bandwidthHead + " 1048576    160              51.20              50.00\t\t   0.000045\n", 1 << 20, 52.4288, ""},
		"no clock":     {latency, latencyHead + " 8       5000          inf            inf          inf      \t       inf         \t-nan   \t\tinf     \t\tinf    \n", 8, 0, errNoClock.Error()},
		"no number":    {latency, latencyHead + " 8       5000          1  2  -nan  4\n", 8, 0, errNoClock.Error()},
		"no time":      {bandwidth, bandwidthHead + " 8    160              0.00              0.00\t\t   0.000000\n", 8, 0, errNoClock.Error()},
		"other length": {latency, latencyHead + " 8       5000    1 2 3 4\n", 16, 0, "no result for 16 B"},
		"nothing":      {latency, latencyHead, 8, 0, "no result for 8 B"},
		"too short":    {latency, latencyHead + " 8  5000  9.55\n", 8, 0, "unreadable"},
		"words":        {latency, latencyHead + " 8  5000  9.55 1 ten\n", 8, 0, "unreadable"},
	} {
		r, err := c.p.parse([]byte(c.out), c.length)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || (c.err == errNoClock.Error()) != errors.Is(err, errNoClock) {
				t.Errorf("%s: error %v, want %q", name, err, c.err)
			}
			continue
		}
		j := job{medium: rdma, quantity: c.p.quantity, lengths: []int{c.length}}
		if picked, pickErr := pick([]record{r}, j); err != nil || pickErr != nil || picked[0].value(j) != c.value {
			t.Errorf("%s: %+v, %v, %v, want %v", name, r, err, pickErr, c.value)
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
		"taskset": `shift; exec "$@"`,
		sendLatency: `cd ` + dir + `
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
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs sh in PATH:", err)
	}
	var said strings.Builder
	at := setting{cores: pin{0, 1}, timeout: time.Minute, progress: &progress{w: &said}}
	j := job{medium: rdma, quantity: "latency", lengths: []int{8}, iterations: 5}
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
		p := knownPerftests(rig{device: "rxe0"})[0]
		if err := p.locate(); err != nil {
			t.Fatal(err)
		}
		records, err := p.run(t.Context(), j, at)
		if !errors.Is(err, c.err) || err == nil && (len(records) != 1 || records[0].Latency.P50 != 1.5) {
			t.Errorf("%s: %+v, %v", name, records, err)
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
	p := &perftest{program: sendLatency, quantity: "latency", path: "x", taskset: filepath.Join(dir, "taskset")}
	at := setting{cores: pin{0, 1}, timeout: time.Minute, progress: &progress{w: new(strings.Builder)}}
	_, err := p.run(t.Context(), job{medium: rdma, quantity: "latency", lengths: []int{8}, iterations: 5}, at)
	if err == nil || !strings.Contains(err.Error(), "no such device") {
		t.Errorf("error %v", err)
	}
}

func TestRDMAArguments(t *testing.T) {
	r := rig{device: "dev0", gid: 3, ranks: "ranks"}
	at := setting{lengthsFile: "L", cores: pin{0, 2}}
	j := job{medium: rdma, quantity: "bandwidth", lengths: []int{64}, iterations: 10, window: 16}
	p := &perftest{program: "ib_read_bw", rig: r, path: "p", taskset: "taskset"}
	if got := p.command(j, 64, 7, at, 2, "host").String(); got != "taskset 4 p -F -d dev0 -s 64 -n 160 -p 7 -x 3 host" {
		t.Errorf("perftest: %s", got)
	}
	p.rig.gid = -1
	if got := p.command(job{iterations: 10}, 64, 7, at, 0).String(); got != "taskset 1 p -F -d dev0 -s 64 -n 10 -p 7" {
		t.Errorf("perftest: %s", got)
	}
	for _, m := range knownMPIs(r) {
		if err := m.build(t.Context(), "dir"); err != nil || m.program(m.folder, "pingpong") != filepath.Join("ranks", "pingpong."+m.Name) {
			t.Errorf("%s: folder %s, %v", m.Name, m.folder, err)
		}
		c := m.command(j, at)
		for _, want := range []string{"UCX_TLS=rc,self", "UCX_NET_DEVICES=dev0:1", "UCX_IB_GID_INDEX=3", "TMPDIR=dir"} {
			if !slices.Contains(c.Env, want) {
				t.Errorf("%s lacks %s", m.Name, want)
			}
		}
		for _, word := range strings.Fields(m.over(rdma)) {
			if !slices.Contains(slices.Concat(c.Args, c.Env), word) {
				t.Errorf("%s over RDMA lacks %s", m.Name, word)
			}
		}
	}
	if m := knownMPIs(r)[0]; !strings.Contains(m.command(j, at).String(), "--mca pml ucx") {
		t.Error("Open MPI is not told to use UCX")
	}
}

func TestLeastPackets(t *testing.T) {
	for _, c := range []struct {
		j    job
		want uint64
	}{
		{job{lengths: []int{0, 8, 4096}, iterations: 10}, 10 * 2 * 3},
		{job{lengths: []int{4097}, iterations: 10}, 10 * 2 * 2},
		{job{lengths: []int{1 << 20}, iterations: 10, window: 16}, 10 * 16 * 256},
	} {
		if got := c.j.leastPackets(); got != c.want {
			t.Errorf("%+v: %d packets, want %d", c.j, got, c.want)
		}
	}
	j := job{medium: rdma, lengths: []int{8}, iterations: 10}
	for passed, ok := range map[uint64]bool{9: false, 10: true, 100: true} {
		if err := j.checkTraffic(traffic{packets: 7}, traffic{packets: 7 + passed}); (err == nil) != ok {
			t.Errorf("%d packets: %v", passed, err)
		}
	}
	if err := j.checkTraffic(traffic{}, traffic{}); err != nil {
		t.Errorf("a card, which counts nothing: %v", err)
	}
}

func TestRDMAPlan(t *testing.T) {
	columns := map[string][]string{}
	subjects := []subject{&pingpong{}, &pingpong{anyThread: true}}
	for _, p := range knownPeers(rig{}) {
		subjects = append(subjects, p)
	}
	for _, j := range planFor([]string{"rdma"}, quantities) {
		var able []string
		for _, s := range (&comparison{subjects: subjects}).subjectsOf(j) {
			able = append(able, s.name())
		}
		columns[j.quantity] = able
	}
	const want = "map[bandwidth:[gomx ib_read_bw ib_write_bw openmpi mpich] latency:[gomx gomx, any thread ib_send_lat ib_write_lat openmpi mpich]]"
	if got := fmt.Sprint(columns); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
