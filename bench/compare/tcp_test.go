package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gomx/bench/compare/internal/socket"
	"gomx/bench/stats"
)

func needsSockets(t *testing.T) {
	t.Helper()
	if err := socket.Available(); err != nil {
		t.Skip(err)
	}
	if runtime.NumCPU() < 2 {
		t.Skip("this machine has one core, and two processes that never sleep need one each")
	}
}

// TestCompareOverTCP measures in small: beside other tests, two spinning processes
// come forward slowly.
func TestCompareOverTCP(t *testing.T) {
	needsSockets(t)
	t.Setenv(fakeVariable, "tcp")
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	bare := &bareSocket{}
	if err := bare.locate(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	c := &comparison{
		subjects: []subject{&pingpong{path: os.Args[0]}, bare}, rounds: 2, cores: pin{0, 1}, timeout: time.Minute, dir: t.TempDir(),
		progress: &progress{w: &said, verbose: true},
		plan: []job{
			{medium: tcp, quantity: "latency", lengths: []int{0, 8, 64, 512, 4 << 10}, iterations: 42},
			{medium: tcp, quantity: "latency", lengths: []int{2 << 20}, iterations: 3},
			{medium: tcp, quantity: "rate", lengths: []int{8}, iterations: 42, window: window},
		},
	}
	result, err := c.run(t.Context())
	if err != nil || len(c.failed) > 0 {
		t.Fatalf("%v, failed: %v\n%s", err, c.failed, said.String())
	}
	var out strings.Builder
	if err := writeMarkdown(&out, result); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nHalf round trip over TCP, us (", "\nMessage rate over TCP, window 64, million messages/s (",
		"\n- socket over TCP: ", "\n| length | gomx | socket | gomx / socket |\n",
		"\n| half round trip over TCP, 0 B to 4 KiB: at most 1.08 x socket | 0 B ",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "mpi") {
		t.Errorf("a bar without its rivals is in\n%s", out.String())
	}
}

// The fake says that it used TCP, and sends nothing. What other programs send
// meanwhile is less than the gigabytes of the largest messages.
func TestWhatBypassesTCPIsRefused(t *testing.T) {
	if networkBytes() == 0 {
		t.Skip("the system doesn't count what passes its network interfaces")
	}
	status, stdout, stderr := run(t.Context(), t, "good", "-peers", "none", "-rounds", "1", "-media", "tcp", "-only", "latency")
	if status != exitFailed || !strings.Contains(stderr, "not measured over TCP") || !strings.Contains(stdout, "2 MiB      -") {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
}

func TestLeastBytes(t *testing.T) {
	for _, c := range []struct {
		j    job
		want uint64
	}{
		{job{lengths: []int{0, 8}, iterations: 10}, 10 * (80 + 96)},
		{job{lengths: []int{8}, iterations: 10, window: 64}, 10 * (512 + 80)},
	} {
		if got := c.j.leastBytes(); got != c.want {
			t.Errorf("%+v: %d bytes, want %d", c.j, got, c.want)
		}
	}
	if err := (job{medium: shm, lengths: []int{8}, iterations: 10}).checkTraffic(traffic{5, 5}, traffic{5, 5}); err != nil {
		t.Errorf("shared memory: %v", err)
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

func TestTCPArguments(t *testing.T) {
	j := job{medium: tcp, quantity: "rate", lengths: []int{8}, iterations: 7, window: 64}
	at := setting{lengthsFile: "L", cores: pin{0, 1}}
	if got := (&pingpong{path: "p"}).command(j, at).String(); got != "p -json -transport tcp -single -L L -N 7 -pin 0,1 -window 64" {
		t.Errorf("gomx: %s", got)
	}
	for _, m := range knownMPIs(rig{}) {
		overTCP := m.command(j, at)
		j := j
		j.medium = shm
		overShm := m.command(j, at)
		for _, word := range strings.Fields(m.over(tcp)) {
			if !slices.Contains(slices.Concat(overTCP.Args, overTCP.Env), word) {
				t.Errorf("%s over TCP lacks %s: %v", m.name(), word, overTCP)
			}
		}
		if strings.Contains(overShm.String(), "tcp") || slices.Contains(overShm.Env, "UCX_TLS=tcp,self") || m.over(shm) != "" {
			t.Errorf("%s over shared memory: %v", m.name(), overShm)
		}
		if m.over(tcp) == "" {
			t.Errorf("%s has no way to ask for TCP", m.name())
		}
	}
}

func TestPicturesOfBothMedia(t *testing.T) {
	r := &report{}
	for _, over := range []medium{shm, tcp} {
		j := job{medium: over, quantity: "latency", lengths: []int{8}}
		r.sheet(over, "latency").reserve(j, "gomx")
		r.sheet(over, "latency").add(cell{"8 B", "gomx"}, 1)
	}
	dir := t.TempDir()
	if err := r.draw(filepath.Join(dir, "results.svg")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"results.svg", "results-tcp.svg"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// judged is how the figures stand to the only bar of their quantity that has
// these rivals. Each figure is a line's, by subject.
func judged(t *testing.T, b bar, figures map[string]map[int]float64) judgement {
	t.Helper()
	r := &report{}
	for subject, byLength := range figures {
		for length, v := range byLength {
			j := job{medium: b.medium, quantity: b.quantity, lengths: []int{length}}
			s := r.sheet(b.medium, b.quantity)
			s.reserve(j, subject)
			if v > 0 {
				s.add(place(j, record{Length: length, Latency: &stats.Summary{P50: v}, Rate: v}, subject), v)
			}
		}
	}
	return b.judge(r.sheet(b.medium, b.quantity))
}

func TestBars(t *testing.T) {
	latency := bar{tcp, "latency", []int{0, 8}, nil, theMPIs, 0.95, false}
	rate := bar{tcp, "rate", []int{8}, nil, theMPIs, 1.5, false}
	beside := bar{tcp, "latency", []int{8}, nil, theMPIs[:1], 0.04, true}
	type figures = map[string]map[int]float64
	for name, c := range map[string]struct {
		b       bar
		figures figures
		verdict string
		words   string
	}{
		"below all":        {latency, figures{"gomx": {0: 9, 8: 9}, "openmpi": {0: 12, 8: 10}, "mpich": {0: 10, 8: 12}}, met, "0 B 0.900 (mpich), 8 B 0.900 (openmpi)"},
		"just on it":       {latency, figures{"gomx": {0: 9, 8: 9.5}, "openmpi": {0: 10, 8: 10}}, met, "0 B 0.900 (openmpi), 8 B 0.950 (openmpi)"},
		"one above":        {latency, figures{"gomx": {0: 9.6, 8: 1}, "openmpi": {0: 10, 8: 10}, "mpich": {0: 20, 8: 20}}, missed, "0 B 0.960 (openmpi), 8 B 0.100 (openmpi)"},
		"a gap":            {latency, figures{"gomx": {0: 9, 8: 0}, "openmpi": {0: 10, 8: 10}}, notMeasured, "0 B 0.900 (openmpi), 8 B -"},
		"missed and a gap": {latency, figures{"gomx": {0: 0, 8: 10}, "openmpi": {0: 10, 8: 10}}, missed, "0 B -, 8 B 1.000 (openmpi)"},
		"a rival failed":   {latency, figures{"gomx": {0: 9, 8: 9}, "openmpi": {0: 10, 8: 10}, "mpich": {0: 0, 8: 0}}, met, "0 B 0.900 (openmpi), 8 B 0.900 (openmpi)"},
		"fast":             {rate, figures{"gomx": {8: 3}, "openmpi": {8: 1}, "mpich": {8: 2}}, met, "8 B 1.500 (mpich)"},
		"too slow":         {rate, figures{"gomx": {8: 3}, "openmpi": {8: 2.1}, "mpich": {8: 1}}, missed, "8 B 1.429 (openmpi)"},
		"a little more":    {beside, figures{"gomx": {8: 1.03}, "openmpi": {8: 1}}, met, "8 B +0.030 (openmpi)"},
		"much more":        {beside, figures{"gomx": {8: 1.05}, "openmpi": {8: 1}}, missed, "8 B +0.050 (openmpi)"},
		"rate alone":       {rate, figures{"gomx": {8: 0}, "openmpi": {8: 2.1}}, notMeasured, "8 B -"},
	} {
		j := judged(t, c.b, c.figures)
		if j.Verdict != c.verdict || j.figures != c.words {
			t.Errorf("%s: %s: %s, want %s: %s", name, j.Verdict, j.figures, c.verdict, c.words)
		}
	}
}

// Every bar names sizes and rivals that the plan measures.
func TestBarsAreMeasured(t *testing.T) {
	for _, b := range allBars {
		for _, length := range b.lengths {
			if !slices.ContainsFunc(wholePlan, func(j job) bool {
				return j.medium == b.medium && j.quantity == b.quantity && slices.Contains(j.lengths, length)
			}) {
				t.Errorf("%+v: %s is not in the plan", b, sizeName(length))
			}
		}
		for _, rival := range b.rivals {
			if rival != endpointsName && !slices.Contains(peerNames(), rival) {
				t.Errorf("%+v: no peer is named %s", b, rival)
			}
		}
	}
}

func TestBarsInEveryForm(t *testing.T) {
	r := &report{versions: map[string]string{}}
	for i, subject := range []string{"gomx", "socket", "mpich"} {
		j := job{medium: tcp, quantity: "rate", lengths: []int{8}}
		r.sheet(tcp, "rate").reserve(j, subject)
		r.sheet(tcp, "rate").add(cell{"8 B", subject}, float64(4-i))
	}
	for form, c := range map[string]struct {
		write func(*strings.Builder) error
		want  string
	}{
		"tables":   {func(w *strings.Builder) error { return writeTables(w, r) }, "\nWhat gomx is meant to reach\n  met           message rate over TCP, 8 B: at least 1.50 x the best of mpich\n                8 B 2.000 (mpich)\n"},
		"markdown": {func(w *strings.Builder) error { return writeMarkdown(w, r) }, "\n| message rate over TCP, 8 B: at least 1.50 x the best of mpich | 8 B 2.000 (mpich) | met |\n"},
	} {
		var out strings.Builder
		if err := c.write(&out); err != nil || !strings.HasSuffix(out.String(), c.want) {
			t.Errorf("%s: %v, no %q in\n%s", form, err, c.want, out.String())
		}
	}
	var out strings.Builder
	if err := writeJSON(&out, r); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var j judgement
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &j); err != nil || j.Verdict != met || j.Ratios["8 B"] != 2 || j.Limit != 1.5 || j.Medium != "tcp" {
		t.Errorf("got %+v, %v from %s", j, err, lines[len(lines)-1])
	}
}
